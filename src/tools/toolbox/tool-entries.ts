import { notDone } from '../../agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { Effect, Tool } from '../../agent/tool.ts';
import { type JudgedCall, usesFirst, usesGroups } from '../../policy/condition.ts';
import { readFirstTimes } from '../../policy/first-times.ts';
import type { Limit, ReadTotals } from '../../policy/limits.ts';
import { DEFAULT_POLICY_NAME, type Policy, type PolicyOf } from '../../policy/policy.ts';
import { reversibleBy } from '../../policy/reversible.ts';
import {
  type ApprovalRule,
  compileApprovalRules,
  judgeStrictly,
  matchesGlob,
  rulesWithFreezes,
  rulesWithNeed,
  type TimeZoneOf,
} from '../../policy/rules.ts';
import type { ChangeFreeze } from '../../policy/time.ts';
import { builtIns, proposePlan } from '../built-ins.ts';
import { mayCall } from '../callers.ts';
import { McpServerError } from '../errors.ts';
import { type CallPlace, type FindGrant, gate, type UserGroups } from '../gate.ts';
import type { BuiltInName, Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import { nearestWord } from '../manifest/problem.ts';
import { askForConsent } from '../mcp/auth/ask-for-consent.ts';
import type { McpHints } from '../mcp/build-tools.ts';
import { type Answerers, withAsking } from '../pause.ts';
import { createPreview, createUndo, type ReadTool } from '../presentation/linked-call.ts';
import { createPresentation } from '../presentation/presentation.ts';
import type { Secrets } from '../secrets.ts';
import { callerActionEntries } from './caller-action.ts';
import { type ApproveChange, changeEntries } from './policy-change.ts';
import { type Action, protectTool } from './protect-tool.ts';
import {
  channelProblems,
  reversibleProblems,
  textProblems,
  textsFor,
  undoProblems,
} from './text-problems.ts';
import type { ToolLock } from './tool-lock.ts';
import type { ToolSource } from './tool-source.ts';
import {
  type AroundRun,
  entriesOverLimit,
  isAllowed,
  limitProblem,
  type RuledEntry,
  type ToolEntry,
} from './toolbox.ts';

/** A longer description would cost tokens in every request with that tool. */
const MAX_DESCRIPTION = 1024;

interface BuildOptions {
  readonly secrets: Secrets;
  readonly lock: ToolLock | undefined;
  readonly around?: AroundRun | undefined;
  readonly readTotals?: ReadTotals | undefined;
  readonly findGrant?: FindGrant | undefined;
  readonly userGroups?: UserGroups | undefined;
  readonly approveChange?: ApproveChange | undefined;
}

/**
 * Puts every tool behind its gate. A tool whose name is taken, whose definition is not the locked one, or that a model has no room for,
 * is left out with a problem.
 */
export function buildEntries(
  manifest: Manifest,
  sources: readonly ToolSource[],
  { secrets, lock, around, readTotals, findGrant, userGroups, approveChange }: BuildOptions,
): { readonly entries: ReadonlyMap<string, RuledEntry>; readonly problems: readonly string[] } {
  const entries = new Map<string, RuledEntry>(
    [
      ...builtInEntries(manifest),
      ...changeEntries(manifest, approveChange),
      ...callerActionEntries(manifest),
    ].map((entry) => [entry.tool.name, entry]),
  );
  const problems: string[] = sources.flatMap((source) => source.problems());
  const options = {
    secrets,
    around,
    readTotals,
    findGrant,
    userGroups,
    limits: manifest.limits,
    changeFreezes: manifest.changeFreezes,
    firstDays: manifest.agent.firstDays,
    firstInPolicies: [...manifest.policies.values()].some(asksForFirst),
    isLocked: lock !== undefined,
    policyOf: (name: string) => manifest.policies.get(name),
    timeZoneOf: (policy: string) => manifest.policies.get(policy)?.timeZone ?? manifest.agent.timeZone,
    read: readFrom((name) => entries.get(name)),
    toolsIn: (channel: string) => manifest.agent.channels.get(channel)?.tools,
    callers: manifest.callers,
  };
  const owners = nameOwners(sources, lock);
  const unmatched = unmatchedLimits(manifest.limits, sources);
  for (const source of sources) {
    for (const tool of source.tools()) {
      const problem =
        lockProblem(source, tool.name, lock) ??
        clashProblem(source, tool.name, owners) ??
        unlimitedProblem(source, tool.name, unmatched);
      problems.push(...textProblems(source.declaration, tool));
      if (problem !== undefined) problems.push(problem);
      else if (entries.has(tool.name))
        problems.push(`${source.declaration.name}: the name "${tool.name}" is taken; it is left out`);
      else entries.set(tool.name, buildEntry(source, tool, options));
    }
  }
  for (const { declaration, tools } of sources)
    for (const { name } of tools())
      problems.push(
        ...previewProblems(declaration, name, entries),
        ...undoProblems(declaration, name, entries),
        ...reversibleProblems(declaration, name, entries),
      );
  problems.push(...channelProblems(manifest, entries), ...lookupProblems(manifest, entries));
  for (const { match, meant } of unmatched)
    if (meant === undefined) problems.push(`limits: there is no tool "${match}"`);
  const leftOut = new Set([...entriesOverLimit(entries.values())].map(({ tool }) => tool.name));
  for (const source of sources) {
    const names = source.tools().flatMap(({ name }) => (leftOut.delete(name) ? [name] : []));
    if (names.length > 0) problems.push(`${source.declaration.name}: ${limitProblem(names)}`);
  }
  return { entries, problems };
}

/** Describes why a server's tool is not offered although it is listed: nobody has locked its present definition. */
export function lockProblem(
  { declaration, digestOf }: ToolSource,
  tool: string,
  lock: ToolLock | undefined,
): string | undefined {
  if (lock === undefined || declaration.kind !== 'mcp') return undefined;
  const locked = lock.digestOf(declaration.name, tool);
  if (locked !== undefined && locked === digestOf(tool)) return undefined;
  const problem = locked === undefined ? 'is not locked' : 'has changed since it was locked';
  return `${declaration.name}: ${tool}: its definition ${problem}, so it is offered to nobody; check it, then run "countersign manifest lock"`;
}

/** Describes why every call of a server's tool needs approval where nothing is locked: nobody has looked at its present definition. */
export function changeProblem(
  { declaration, hasChanged }: ToolSource,
  tool: string,
  lock: ToolLock | undefined,
): string | undefined {
  if (lock !== undefined || !hasChanged(tool)) return undefined;
  return `${declaration.name}: ${tool}: its definition is new or has changed since the server was first seen, so every call needs approval; check it, then run "countersign manifest lock"`;
}

/**
 * Returns the entry that each name belongs to. The manifest's own come first: the tools of modules and HTTP calls, and their entries' names,
 * also while one cannot be loaded. Among servers it is the first that lists the name, and one that newly lists it comes last.
 */
export function nameOwners(
  sources: readonly ToolSource[],
  lock: ToolLock | undefined,
): ReadonlyMap<string, ToolSource> {
  const owners = new Map<string, ToolSource>();
  const claim = (name: string, source: ToolSource) => owners.set(name, owners.get(name) ?? source);
  const fixed = sources.filter(({ declaration }) => declaration.kind !== 'mcp');
  for (const source of fixed) for (const { name } of source.tools()) claim(name, source);
  for (const source of fixed) if (source.tools().length === 0) claim(source.declaration.name, source);
  const servers = sources.filter((source) => !fixed.includes(source));
  for (const isNew of [false, true])
    for (const source of servers)
      for (const { name } of source.tools())
        if (source.hasChanged(name) === isNew && lockProblem(source, name, lock) === undefined)
          claim(name, source);
  return owners;
}

/** Describes why a tool is not offered whose name belongs to another entry. */
export function clashProblem(
  source: ToolSource,
  tool: string,
  owners: ReadonlyMap<string, ToolSource>,
): string | undefined {
  const owner = owners.get(tool);
  if (owner === undefined || owner === source) return undefined;
  const { name } = source.declaration;
  return `${name}: the name "${tool}" belongs to "${owner.declaration.name}", so the tool of "${name}" is offered to nobody; give it another name or the server a prefix`;
}

/** The name or pattern of a limit that matches no tool, and the tool that it probably means. */
interface UnmatchedLimit {
  readonly match: string;
  readonly meant: string | undefined;
}

/** Lists the limits that match no tool. As long as a source has no tools, a name may be one of its own. */
function unmatchedLimits(limits: readonly Limit[], sources: readonly ToolSource[]): UnmatchedLimit[] {
  const lists = sources.map((source) => source.tools().map(({ name }) => name));
  if (lists.some(({ length }) => length === 0)) return [];
  const names = lists.flat();
  return limits
    .filter(({ match }) => !names.some((name) => matchesGlob(match, name)))
    .map(({ match }) => ({ match, meant: nearestWord(match, names) }));
}

/** Describes why a tool is not offered that a mistyped limit leaves without one. */
function unlimitedProblem(
  { declaration }: ToolSource,
  tool: string,
  unmatched: readonly UnmatchedLimit[],
): string | undefined {
  const match = unmatched.find(({ meant }) => meant === tool)?.match;
  if (match === undefined) return undefined;
  return `${declaration.name}: ${tool}: "limits" has "${match}", which is no tool and may mean this one, so it is offered to nobody; correct the name in "limits"`;
}

interface EntryOptions {
  readonly secrets: Secrets;
  readonly around: AroundRun | undefined;
  readonly readTotals: ReadTotals | undefined;
  readonly findGrant: FindGrant | undefined;
  readonly userGroups: UserGroups | undefined;
  readonly limits: readonly Limit[];
  readonly changeFreezes: readonly ChangeFreeze[];
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

function buildEntry(source: ToolSource, given: Tool, options: EntryOptions): RuledEntry {
  const { declaration } = source;
  const { secrets, around, policyOf, timeZoneOf, read, isLocked, readTotals, findGrant, toolsIn } = options;
  const limits = options.limits.filter(({ match }) => matchesGlob(match, given.name));
  const freezes = options.changeFreezes.filter(({ tools }) =>
    tools.some((pattern) => matchesGlob(pattern, given.name)),
  );
  const isListedIn = (channel: string): boolean =>
    toolsIn(channel)?.some((pattern) => matchesGlob(pattern, given.name)) ?? true;
  const tool = { ...given, description: shortenDescription(given.description) };
  const { kind, allow, maxAttempts, retryForMs, maxOutput, images } = declaration;
  const digest = source.digestOf(tool.name);
  const isUnchecked = !isLocked && source.hasChanged(tool.name);
  const isTrusting = declaration.kind === 'mcp' && declaration.trustHints && !isUnchecked;
  const hints = isTrusting ? source.hintsOf(tool.name) : undefined;
  // A trusted hint comes last, after the rules of the manifest.
  const trusted: ApprovalRule[] = hints?.readOnly === true ? [{ require: 'never' }] : [];
  const strict = strictRules(tool.name, declaration.approval);
  const rules = isUnchecked ? strict : [...declaration.approval, ...trusted];
  const asksForGroups =
    allow.groups !== undefined || rules.some(({ when }) => when !== undefined && usesGroups(when));
  const userGroups = asksForGroups ? options.userGroups : undefined;
  const allows = ({ channel, requesters, contextAuthors, groupsOf = userGroups?.of }: CallPlace) =>
    isListedIn(channel) &&
    isAllowed(allow, channel, [...requesters, ...contextAuthors], groupsOf, (name) =>
      mayCall(options.callers.get(name), given.name),
    );
  const isFree =
    declaration.kind === 'mcp' && declaration.freeAnswers.some((match) => matchesGlob(match, tool.name));
  const answers: ToolEntry['answers'] = isFree ? 'free' : 'approved';
  const texts = textsFor(declaration, tool.name);
  const undo = tool.kind === 'interrupt' ? undefined : createUndo(tool, texts.undo);
  const reversible = reversibleBy({
    declared: texts.reversible,
    hasUndo: undo !== undefined,
    // A server's hint says nothing here, trusted or not.
    onlyReads: tool.kind === 'interrupt' || (declaration.effect ?? tool.effect) === 'none',
  });
  const presentation = createPresentation(tool, texts);
  const base = {
    source: kind,
    behind: behindOf(declaration, digest),
    presentation,
    reversible,
    ...(declaration.kind === 'mcp' && { elicitation: declaration.elicitation, answers }),
    rules,
    isListedIn,
    allow,
    allows,
    limits,
    changeFreezes: freezes,
  } as const;
  const policyOfTool = policyFor(tool.name, rules);
  const wanted = declaration.answers;
  if (tool.kind === 'interrupt') {
    const asking = withAsking(tool, () => answerersOf(wanted ?? 'requester', policyOfTool));
    return { ...base, ...UNGATED, tool: asking, execution: ONE_ATTEMPT };
  }
  const effect = declaration.effect ?? (hints === undefined ? undefined : hintedEffect(hints)) ?? tool.effect;
  const idempotent = effect !== 'once';
  const hasFinalErrors =
    declaration.kind === 'mcp' && declaration.finalErrors.some((match) => matchesGlob(match, tool.name));
  const protectedTool = protectTool(
    { ...(hasFinalErrors ? withFinalErrors(tool) : tool), effect, ...timeLimit(declaration) },
    { secrets, maxOutput, images, untrusted: kind === 'mcp' || kind === 'http', around },
  );
  const changeFreezes = effect === 'none' ? [] : freezes;
  const withOwnNeed = rulesWithNeed(compileApprovalRules(rules, timeZoneOf), needOf(tool));
  const compiled = rulesWithFreezes(withOwnNeed, changeFreezes);
  const compiledStrict = rulesWithFreezes(compileApprovalRules(strict, timeZoneOf), changeFreezes);
  const isFirstAsked =
    options.firstInPolicies || rules.some(({ when }) => when !== undefined && usesFirst(when));
  const firstDays = isFirstAsked ? options.firstDays : undefined;
  const readFirst: ToolEntry['readFirst'] =
    firstDays === undefined || readTotals === undefined
      ? undefined
      : async (input, { requesters, contextAuthors }) => {
          const people = [...requesters, ...contextAuthors];
          const call = { tool: tool.name, target: presentation.targetOf(input), people };
          return readFirstTimes(call, firstDays, readTotals).catch(() => undefined);
        };
  // A server can change a tool without a word, so it is asked again before a call that nobody looks at.
  const refreshRules = async () => {
    if (effect !== 'none') await source.relist();
    return source.digestOf(tool.name) === digest ? compiled : compiledStrict;
  };
  const judge = (call: JudgedCall) =>
    judgeStrictly(compiled, { ...call, reversible, groupsOf: call.groupsOf ?? userGroups?.of }, policyOf);
  return {
    ...base,
    changeFreezes,
    ...{ firstDays, readFirst },
    preview: createPreview(protectedTool, texts.preview, read),
    undo,
    resolvedBy: policyOfTool,
    tool: withConsent(
      gate(protectedTool, compiled, {
        ...{ policyOf, allows, userGroups, refreshRules, limits, readTotals, findGrant, answers, reversible },
        readFirst,
        answerers(way, input, place) {
          const verdict = judge({ tool: tool.name, input, ...place }).verdict;
          const policy = verdict.outcome === 'ask' ? verdict.policy : policyOfTool;
          return answerersOf(wanted ?? (way === 'confirm' ? 'approvers' : 'requester'), policy);
        },
      }),
      source,
    ),
    ...(source.requester !== undefined && { runsAsRequester: source.requester }),
    judge: (input, place) => judge({ tool: tool.name, input, ...place }).verdict,
    explain: (input, place, now, totals) => judge({ tool: tool.name, input, now, totals, ...place }),
    execution: {
      idempotent,
      maxAttempts: idempotent ? maxAttempts : 1,
      retryForMs: idempotent ? retryForMs : 0,
    },
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

/** Tells whether a policy decides by first times. */
function asksForFirst({ risk, grants, groups }: Policy): boolean {
  const expressions = [
    typeof risk === 'object' ? risk.expression : '',
    grants?.when,
    ...groups.map(({ from }) => from),
  ];
  return expressions.some((each) => typeof each === 'string' && usesFirst(each));
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

/** Returns rules under which every call needs approval, for a definition that no admin has seen. */
function strictRules(name: string, rules: readonly ApprovalRule[]): ApprovalRule[] {
  return [...rules.filter(({ require }) => require !== 'never'), { policy: policyFor(name, rules) }];
}

/** Returns the policy of the first rule for this tool that names one. */
function policyFor(name: string, rules: readonly ApprovalRule[]): string {
  const own = rules.find(({ match = '*', policy }) => matchesGlob(match, name) && policy !== undefined);
  return own?.policy ?? DEFAULT_POLICY_NAME;
}

function hintedEffect({ readOnly, idempotent }: McpHints): Effect | undefined {
  if (readOnly === true) return 'none';
  return idempotent === true ? 'idempotent' : undefined;
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

const EVERYWHERE = { channels: undefined, people: undefined, groups: undefined };
const NO_RULES = { outcome: 'run', rule: 'no rule applies' } as const;
/** The judgement of tools that need no approval. */
const UNGATED = {
  judge: () => NO_RULES,
  explain: () => ({ verdict: NO_RULES, requester: '', steps: [] }),
};
/** The attempts of a plan; each of its steps has its own. */
const RETRIED = { idempotent: true, maxAttempts: 3, retryForMs: 3_600_000 };
const ONE_ATTEMPT = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Builds the entries of the built-ins that the manifest has not switched off. */
function builtInEntries({ agent }: Manifest): RuledEntry[] {
  const uses: ReadonlyMap<string, string> = new Map(
    Object.entries(agent.builtIns) satisfies [string | BuiltInName, string][],
  );
  const plans = agent.plans === undefined ? [] : [proposePlan];
  return [...builtIns, ...plans]
    .filter(({ name }) => uses.get(name) !== 'off')
    .map((tool) => ({
      tool:
        tool.kind === 'interrupt'
          ? withAsking(tool, () => (uses.get(tool.name) === 'requester' ? 'requester' : 'anyone'))
          : tool,
      source: 'built-in',
      execution: tool.kind === 'tool' ? RETRIED : ONE_ATTEMPT,
      behind: {},
      limits: [],
      changeFreezes: [],
      reversible: 'yes',
      ...UNGATED,
      allows: () => true,
      presentation: createPresentation(tool, {}),
      rules: [],
      isListedIn: () => true,
      allow: EVERYWHERE,
    }));
}

const READING_METHODS: readonly unknown[] = ['GET', 'HEAD'];

/** Builds the function that runs tools for a preview, or to find an approver. It refuses every tool that could write, or that needs approval itself. */
export function readFrom(find: (name: string) => ToolEntry | undefined): ReadTool {
  return async (name, input, { context, signal }) => {
    const entry = find(name);
    const problem = readProblem(name, entry);
    if (problem !== undefined || entry?.tool.kind !== 'tool') throw new Error(problem);
    const parsed = entry.tool.inputSchema.parse(input);
    if (!parsed.ok) throw new TypeError(`${name}: ${parsed.field}: ${parsed.problem}`);
    return entry.tool.run(parsed.value, {
      context,
      signal,
      resumed: undefined,
      idempotencyKey: 'preview',
      callId: 'preview',
      progress: () => {},
      attach: () => false,
      file: () => false,
      interrupt: () => {
        throw new Error(`${name} needs approval itself, so it cannot be used here`);
      },
      deny: (reason) => {
        throw new Error(reason);
      },
    });
  };
}

/**
 * Describes why a preview, or a policy that looks for an approver, may not use a tool: only one that is declared to have no effect may be used, over HTTP only a GET, and none that
 * needs the account of a person, since everybody in the thread reads what it found.
 */
function readProblem(
  name: string,
  entry: ToolEntry | undefined,
  user: 'a preview' | 'a policy' = 'a preview',
): string | undefined {
  if (entry?.tool.kind !== 'tool') return `there is no tool "${name}" that ${user} could use`;
  if (entry.runsAsRequester !== undefined)
    return `${user} reads in nobody's name, and "${name}" uses the account of its requester`;
  const { address } = entry.behind;
  const isReading =
    entry.source !== 'http' || (isJsonObject(address) && READING_METHODS.includes(address.method));
  if (entry.tool.effect === 'none' && isReading) return undefined;
  return `${user} can only read, and "${name}" is not declared to have no effect`;
}

/** Describes the tools that cannot find an approver, although a policy asks them to; until then nobody can approve under it. */
function lookupProblems({ policies }: Manifest, entries: ReadonlyMap<string, ToolEntry>): string[] {
  return [...policies.values()].flatMap(({ name, groups }) =>
    groups.flatMap(({ from }) => {
      const problem =
        typeof from === 'object' ? readProblem(from.tool, entries.get(from.tool), 'a policy') : undefined;
      return problem === undefined ? [] : [`policies: ${name}: ${problem}`];
    }),
  );
}

/** Describes the problem of a tool's declared preview, for the log and for `doctor`. */
function previewProblems(
  { name: source, cards }: ToolDeclaration,
  tool: string,
  entries: ReadonlyMap<string, ToolEntry>,
): string[] {
  const used = cards.find(({ match }) => matchesGlob(match, tool))?.preview?.tool;
  const problem = used === undefined ? undefined : readProblem(used, entries.get(used));
  return problem === undefined ? [] : [`${source}: ${tool}: ${problem}`];
}

/** Returns the time limit that the manifest sets for the tools of a module. */
function timeLimit(declaration: ToolSource['declaration']): { readonly timeoutMs?: number } {
  const timeoutMs = 'timeoutMs' in declaration ? declaration.timeoutMs : undefined;
  return timeoutMs === undefined ? {} : { timeoutMs };
}
