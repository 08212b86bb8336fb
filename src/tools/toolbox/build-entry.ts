import { notDone } from '../../agent/errors.ts';
import { type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import { type JudgedCall, usesFirst } from '../../policy/condition.ts';
import { readFirstTimes } from '../../policy/first-times.ts';
import type { PlannedFreeze } from '../../policy/freezes.ts';
import type { Limit, ReadTotals } from '../../policy/limits.ts';
import type { PolicyOf } from '../../policy/policy.ts';
import { reversibleBy } from '../../policy/reversible.ts';
import {
  type ApprovalRule,
  compileApprovalRules,
  judgeStrictly,
  matchesGlob,
  rulesWithNeed,
  type TimeZoneOf,
} from '../../policy/rules.ts';
import { mayCall } from '../callers.ts';
import { McpServerError } from '../errors.ts';
import {
  type CallPlace,
  type FindGrant,
  gate,
  judgeGated,
  type Profiles,
  type UserGroups,
  withPeople,
} from '../gate.ts';
import type { Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import { askForConsent } from '../mcp/auth/ask-for-consent.ts';
import { type Answerers, type Ask, withAsking } from '../pause.ts';
import { formatValue } from '../presentation/formats.ts';
import { createPreview, createUndo, type ReadTool } from '../presentation/linked-call.ts';
import { createPresentation, type Presentation } from '../presentation/presentation.ts';
import type { Secrets } from '../secrets.ts';
import { type Action, protectTool } from './protect-tool.ts';
import { textsFor } from './text-problems.ts';
import { chooseRules, type ToolRules } from './tool-rules.ts';
import type { ToolSource } from './tool-source.ts';
import { type AroundRun, disallowed, type RuledEntry, type ToolEntry } from './toolbox.ts';

/** A longer description would cost tokens in every request with that tool. */
const MAX_DESCRIPTION = 1024;

export interface EntryOptions {
  readonly secrets: Secrets;
  readonly around: AroundRun | undefined;
  readonly readTotals: ReadTotals | undefined;
  readonly findGrant: FindGrant | undefined;
  readonly userGroups: UserGroups | undefined;
  readonly profiles: Profiles | undefined;
  readonly limits: readonly Limit[];
  readonly freezes: readonly PlannedFreeze[];
  readonly firstDays: number;
  /** Whether a policy asks for first times, which any call may come under. */
  readonly firstInPolicies: boolean;
  readonly policyOf: PolicyOf;
  readonly timeZoneOf: TimeZoneOf;
  readonly read: ReadTool;
  /** Returns the patterns of the tools that may be used in a channel; `undefined` means all. */
  readonly toolsIn: (channel: string) => readonly string[] | undefined;
  readonly callers: Manifest['callers'];
  /** Whether an admin has locked the definitions of servers. */
  readonly isLocked: boolean;
}

const NO_RULES = { outcome: 'run', rule: 'no rule applies' } as const;
/** The judgement of tools that need no approval. */
export const UNGATED = {
  judge: () => NO_RULES,
  explain: async () => ({ verdict: NO_RULES, requester: '', steps: [] }),
};
/** The attempts of a plan; each of its steps has its own. */
export const RETRIED = { idempotent: true, maxAttempts: 3, retryForMs: 3_600_000 };
/** The attempt of what runs once. */
export const ONE_ATTEMPT = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** What an entry says of its tool beside the gate. */
type DescribedTool = Omit<RuledEntry, 'tool' | 'execution' | 'judge' | 'explain'>;

/** Puts a tool behind its gate, with what the manifest says of it. */
export function buildEntry(source: ToolSource, given: Tool, options: EntryOptions): RuledEntry {
  const tool = { ...given, description: shortenDescription(given.description) };
  const ruled = chooseRules(source, tool.name, options.isLocked);
  const own = {
    ...options,
    userGroups: ruled.asksForGroups ? options.userGroups : undefined,
    profiles: ruled.asksForProfiles ? options.profiles : undefined,
  };
  const described = describeTool(source, tool, ruled.rules, own);
  if (tool.kind === 'tool') return buildAction(source, tool, { described, ruled }, own);
  const answers = source.declaration.answers ?? 'requester';
  const asking = withAsking(tool, () => answerersOf(answers, ruled.policy));
  return { ...described, ...UNGATED, tool: asking, execution: ONE_ATTEMPT };
}

/** Describes a tool: its words, its places, its limits, and whether its calls can be taken back. */
function describeTool(
  { declaration, digestOf }: ToolSource,
  tool: Tool,
  rules: readonly ApprovalRule[],
  { toolsIn, callers, userGroups, limits, freezes }: EntryOptions,
): DescribedTool {
  const { kind, allow } = declaration;
  const isMeant = (pattern: string): boolean => matchesGlob(pattern, tool.name);
  const isListedIn = (channel: string): boolean => toolsIn(channel)?.some(isMeant) ?? true;
  const notAllowed: ToolEntry['notAllowed'] = ({
    channel,
    requesters,
    contextAuthors,
    groupsOf = userGroups?.of,
  }) =>
    isListedIn(channel)
      ? disallowed(allow, channel, [...requesters, ...contextAuthors], groupsOf, (name) => {
          const caller = callers.get(name);
          return caller && mayCall(caller, tool.name);
        })
      : { why: 'not-in-channel', channel };
  const texts = textsFor(declaration, tool.name);
  const presentation = createPresentation(tool, texts);
  const undo = tool.kind === 'interrupt' ? undefined : createUndo(tool, texts.undo);
  return {
    source: kind,
    behind: behindOf(declaration, digestOf(tool.name)),
    presentation,
    undo,
    reversible: reversibleBy({
      declared: texts.reversible,
      hasUndo: undo !== undefined,
      // A server's hint says nothing here, trusted or not.
      onlyReads: tool.kind === 'interrupt' || (declaration.effect ?? tool.effect) === 'none',
    }),
    ...(kind === 'mcp' && {
      elicitation: declaration.elicitation,
      answers: declaration.freeAnswers.some(isMeant) ? 'free' : 'approved',
    }),
    rules,
    isListedIn,
    allow,
    notAllowed,
    allows: (place) => notAllowed(place) === undefined,
    limits: limits.filter(({ match }) => isMeant(match)).map((limit) => asShown(limit, presentation)),
    freezes: freezes.filter(({ tools }) => tools.some(isMeant)),
  };
}

/** An expression that is one value of the input, such as `input.amount`. */
const ONE_VALUE = /^input((?:\.\w+)+)$/;

/** Adds to a limit on a value of the input how the cards of the tool show its maximum. */
function asShown(limit: Limit, presentation: Presentation): Limit {
  const path = ONE_VALUE.exec(limit.sum?.trim() ?? '')?.[1]
    ?.slice(1)
    .split('.');
  const format = path && presentation.formatOf(path);
  return format === undefined ? limit : { ...limit, shownMax: formatValue(limit.max, format) };
}

/** Builds the entry of a tool that acts: it is protected, and every call passes the gate. */
function buildAction(
  source: ToolSource,
  tool: Action,
  { described, ruled }: { readonly described: DescribedTool; readonly ruled: ToolRules },
  options: EntryOptions,
): RuledEntry {
  const { declaration } = source;
  const { presentation, reversible, limits, allows, answers = 'approved' } = described;
  const { policyOf, timeZoneOf, userGroups, profiles, readTotals, findGrant } = options;
  const effect = declaration.effect ?? ruled.hintedEffect ?? tool.effect;
  const idempotent = effect !== 'once';
  const protectedTool = protectAction(declaration, { ...tool, effect }, options);
  const compiled = rulesWithNeed(compileApprovalRules(ruled.rules, timeZoneOf), needOf(tool));
  const compiledStrict = compileApprovalRules(ruled.strict, timeZoneOf);
  const digest = source.digestOf(tool.name);
  // A server can change a tool without a word, so it is asked again before a call that nobody looks at.
  const refreshRules = async () => {
    if (effect !== 'none') await source.relist();
    return source.digestOf(tool.name) === digest ? compiled : compiledStrict;
  };
  const firstDays = asksForFirst(ruled.rules, options) ? options.firstDays : undefined;
  const readFirst = firstReader({ tool: tool.name, targetOf: presentation.targetOf, firstDays, readTotals });
  const judge = (call: JudgedCall) =>
    judgeStrictly(compiled, { ...withPeople(call, { userGroups, profiles }), reversible }, policyOf);
  const answerers = (way: Ask['way']['kind'], input: JsonValue, place: CallPlace): Answerers => {
    const { verdict } = judge({ tool: tool.name, input, ...place });
    const policy = verdict.outcome === 'ask' ? verdict.policy : ruled.policy;
    return answerersOf(declaration.answers ?? (way === 'confirm' ? 'approvers' : 'requester'), policy);
  };
  const deciding = { policyOf, userGroups, profiles, limits, readTotals, reversible };
  const gated = gate(protectedTool, compiled, {
    ...deciding,
    allows,
    refreshRules,
    findGrant,
    answers,
    readFirst,
    answerers,
  });
  return {
    ...described,
    freezes: effect === 'none' ? [] : described.freezes,
    firstDays,
    readFirst,
    preview: createPreview(protectedTool, textsFor(declaration, tool.name).preview, options.read),
    resolvedBy: ruled.policy,
    tool: withConsent(gated, source),
    ...(source.requester !== undefined && { runsAsRequester: source.requester }),
    judge: (input, place) => judge({ tool: tool.name, input, ...place }).verdict,
    explain: (call, given) =>
      judgeGated(compiled, { tool: tool.name, ...call }, { ...deciding, readTotals: given }),
    execution: {
      idempotent,
      maxAttempts: idempotent ? declaration.maxAttempts : 1,
      retryForMs: idempotent ? RETRIED.retryForMs : 0,
    },
  };
}

/** Limits and watches the runs of a tool, as its entry in the manifest says. */
function protectAction(
  declaration: ToolDeclaration,
  tool: Action,
  { secrets, around }: EntryOptions,
): Action {
  const { kind, maxOutput, images } = declaration;
  const hasFinalErrors =
    kind === 'mcp' && declaration.finalErrors.some((match) => matchesGlob(match, tool.name));
  return protectTool(
    { ...(hasFinalErrors ? withFinalErrors(tool) : tool), ...timeLimit(declaration) },
    { secrets, maxOutput, images, untrusted: kind === 'mcp' || kind === 'http', around },
  );
}

/** Tells whether a rule of the tool, or a policy, decides by first times. */
function asksForFirst(rules: readonly ApprovalRule[], { firstInPolicies }: EntryOptions): boolean {
  return firstInPolicies || rules.some(({ when }) => when !== undefined && usesFirst(when));
}

interface FirstSource extends Pick<EntryOptions, 'readTotals'> {
  readonly tool: string;
  readonly targetOf: Presentation['targetOf'];
  readonly firstDays: number | undefined;
}

/** Makes what reads the first times of calls; `undefined` where nobody asks for them, or nothing counts. */
function firstReader({ tool, targetOf, firstDays, readTotals }: FirstSource): ToolEntry['readFirst'] {
  if (firstDays === undefined || readTotals === undefined) return undefined;
  return async (input, { requesters, contextAuthors }) => {
    const call = { tool, target: targetOf(input), people: [...requesters, ...contextAuthors] };
    return readFirstTimes(call, firstDays, readTotals).catch(() => undefined);
  };
}

/** Returns whether a call of a tool needs approval by its own definition; an input that the tool cannot read does. */
function needOf({ inputSchema, needsApproval }: Action): ((input: JsonValue) => unknown) | undefined {
  if (needsApproval === undefined) return undefined;
  return (input) => {
    const parsed = inputSchema.parse(input);
    return !parsed.ok || needsApproval(parsed.value);
  };
}

/** Reads who may answer; `approvers` are those of the policy that the tool's rules name. */
function answerersOf(answers: string, policy: string): Answerers {
  if (answers === 'requester') return answers;
  return { policy: answers === 'approvers' ? policy : answers };
}

function withConsent(tool: Action, { accounts }: ToolSource): Action {
  return accounts === undefined ? tool : askForConsent(tool, accounts);
}

/** Lets a server's tool that reports an error say by it that it did nothing. */
function withFinalErrors(tool: Action): Action {
  return {
    ...tool,
    async run(input, helpers) {
      try {
        return await tool.run(input, helpers);
      } catch (error) {
        throw error instanceof McpServerError && error.code === 'failed' ? notDone(error) : error;
      }
    },
  };
}

/** The entry as written names the variables of headers and of a server's environment, so that a rotated secret changes nothing. */
function behindOf(declaration: ToolDeclaration, digest: string | undefined): JsonObject {
  const { name, asWritten } = declaration;
  return { entry: name, asWritten, address: addressOf(declaration), ...(digest !== undefined && { digest }) };
}

function addressOf(declaration: ToolDeclaration): JsonObject {
  switch (declaration.kind) {
    case 'module':
      return { module: declaration.module };
    case 'code':
      return { code: true };
    case 'mcp': {
      const { config } = declaration;
      return config.transport === 'http'
        ? { url: config.url }
        : { command: config.command, args: config.args };
    }
    case 'http': {
      const { method, url, query = {}, body = null, select = '' } = declaration.definition;
      return { method, url, query: toJson(query), body, select };
    }
  }
}

function shortenDescription(description: string): string {
  if (description.length <= MAX_DESCRIPTION) return description;
  // Half of a surrogate pair would not be valid text.
  return `${description.slice(0, MAX_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns the time limit that the manifest sets for the tools of a module. */
function timeLimit(declaration: ToolSource['declaration']): { readonly timeoutMs?: number } {
  const timeoutMs = 'timeoutMs' in declaration ? declaration.timeoutMs : undefined;
  return timeoutMs === undefined ? {} : { timeoutMs };
}
