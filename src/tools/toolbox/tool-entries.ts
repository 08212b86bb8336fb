import { type JsonObject, toJson } from '../../agent/json.ts';
import type { Effect, Tool } from '../../agent/tool.ts';
import {
  type ApprovalRule,
  compileApprovalRules,
  DEFAULT_POLICY_NAME,
  matchesGlob,
  type TimeZoneOf,
} from '../gate/approval-rules.ts';
import { type CallPlace, gate, type UseGrant } from '../gate/gate.ts';
import type { Limit, ReadTotals } from '../gate/limits.ts';
import { judgeStrictly, type PolicyOf, strictestVerdict } from '../gate/strictest.ts';
import type { Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import { askForConsent } from '../mcp/auth/person/ask-for-consent.ts';
import type { McpHints } from '../mcp/build-tools.ts';
import { createPresentation } from '../presentation/presentation.ts';
import { createPreview, type ReadTool } from '../presentation/preview.ts';
import { createUndo } from '../presentation/undo.ts';
import type { Secrets } from '../secrets.ts';
import { builtInEntries, ONE_ATTEMPT, UNGATED } from './built-in-entries.ts';
import { type ApproveChange, changeEntries } from './policy-change.ts';
import { type Action, protectTool } from './protect-tool.ts';
import { previewProblems, readFrom } from './read-tool.ts';
import { entriesOverLimit, isAllowed, limitProblem, type RuledEntry } from './ruled-entry.ts';
import { channelProblems, textProblems, textsFor, undoProblems } from './text-problems.ts';
import type { ToolLock } from './tool-lock.ts';
import type { ToolSource } from './tool-source.ts';
import type { AroundRun } from './toolbox.ts';

/** A longer description would cost tokens in every request with that tool. */
const MAX_DESCRIPTION = 1024;

interface BuildOptions {
  readonly secrets: Secrets;
  readonly lock: ToolLock | undefined;
  readonly around?: AroundRun | undefined;
  readonly readTotals?: ReadTotals | undefined;
  readonly useGrant?: UseGrant | undefined;
  readonly approveChange?: ApproveChange | undefined;
}

/**
 * Puts every tool behind its gate. A tool whose name is taken, whose definition is not the locked one, or that a model has no room for,
 * is left out with a problem.
 */
export function buildEntries(
  manifest: Manifest,
  sources: readonly ToolSource[],
  { secrets, lock, around, readTotals, useGrant, approveChange }: BuildOptions,
): { readonly entries: ReadonlyMap<string, RuledEntry>; readonly problems: readonly string[] } {
  const entries = new Map<string, RuledEntry>(
    [...builtInEntries(manifest, secrets), ...changeEntries(manifest, approveChange)].map((entry) => [
      entry.tool.name,
      entry,
    ]),
  );
  const problems: string[] = sources.flatMap((source) => source.problems());
  const options = {
    secrets,
    around,
    readTotals,
    useGrant,
    limits: manifest.limits,
    isLocked: lock !== undefined,
    policyOf: (name: string) => manifest.policies.get(name),
    timeZoneOf: (policy: string) => manifest.policies.get(policy)?.timeZone ?? manifest.agent.timeZone,
    read: readFrom((name) => entries.get(name)),
    toolsIn: (channel: string) => manifest.agent.channels.get(channel)?.tools,
  };
  for (const source of sources) {
    for (const tool of source.tools()) {
      const unlocked = lockProblem(source, tool.name, lock);
      problems.push(...textProblems(source.declaration, tool));
      if (unlocked !== undefined) problems.push(unlocked);
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
      );
  problems.push(...channelProblems(manifest, entries));
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

interface EntryOptions {
  readonly secrets: Secrets;
  readonly around: AroundRun | undefined;
  readonly readTotals: ReadTotals | undefined;
  readonly useGrant: UseGrant | undefined;
  readonly limits: readonly Limit[];
  readonly policyOf: PolicyOf;
  readonly timeZoneOf: TimeZoneOf;
  readonly read: ReadTool;
  /** Returns the patterns of the tools that may be used in a channel; `undefined` means all. */
  readonly toolsIn: (channel: string) => readonly string[] | undefined;
  /** Whether an admin has locked the definitions of servers. */
  readonly isLocked: boolean;
}

function buildEntry(source: ToolSource, given: Tool, options: EntryOptions): RuledEntry {
  const { declaration } = source;
  const { secrets, around, policyOf, timeZoneOf, read, isLocked, readTotals, useGrant, toolsIn } = options;
  const limits = options.limits.filter(({ match }) => matchesGlob(match, given.name));
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
  const allows = ({ channel, requesters, contextAuthors }: CallPlace) =>
    isListedIn(channel) && isAllowed(allow, channel, [...requesters, ...contextAuthors]);
  const base = {
    source: kind,
    behind: behindOf(declaration, digest),
    presentation: createPresentation(tool, textsFor(declaration, tool.name)),
    answerableBy: 'anyone',
    elicitation: declaration.kind === 'mcp' ? declaration.elicitation : undefined,
    rules,
    isListedIn,
    allow,
    allows,
    limits,
  } as const;
  if (tool.kind === 'interrupt') return { ...base, ...UNGATED, tool, execution: ONE_ATTEMPT };
  const effect = declaration.effect ?? (hints === undefined ? undefined : hintedEffect(hints)) ?? tool.effect;
  const idempotent = effect !== 'once';
  const protectedTool = protectTool(
    { ...tool, effect },
    { secrets, maxOutput, images, untrusted: kind !== 'module' },
  );
  const compiled = compileApprovalRules(rules, timeZoneOf);
  const compiledStrict = compileApprovalRules(strict, timeZoneOf);
  // A server can change a tool without a word, so it is asked again before a call that nobody looks at.
  const refreshRules = async () => {
    if (effect !== 'none') await source.relist();
    return source.digestOf(tool.name) === digest ? compiled : compiledStrict;
  };
  return {
    ...base,
    preview: createPreview(protectedTool, textsFor(declaration, tool.name).preview, read),
    undo: createUndo(tool, textsFor(declaration, tool.name).undo),
    resolvedBy: policyFor(tool.name, rules),
    tool: withConsent(
      gate(watchTool(protectedTool, around), compiled, {
        ...{ policyOf, allows, refreshRules, limits, readTotals, useGrant },
      }),
      source,
    ),
    ...(source.requester !== undefined && { runsAsRequester: source.requester }),
    judge: (input, place) => strictestVerdict(compiled, { tool: tool.name, input, ...place }, policyOf),
    explain: (input, place, now, totals) =>
      judgeStrictly(compiled, { tool: tool.name, input, now, totals, ...place }, policyOf),
    execution: {
      idempotent,
      maxAttempts: idempotent ? maxAttempts : 1,
      retryForMs: idempotent ? retryForMs : 0,
    },
  };
}

function withConsent(tool: Action, { accounts }: ToolSource): Action {
  return accounts === undefined ? tool : askForConsent(tool, accounts);
}

function watchTool(tool: Action, around: AroundRun | undefined): Action {
  if (around === undefined) return tool;
  return {
    ...tool,
    run: (input, helpers) => around(tool.name, input, helpers, (given) => tool.run(input, given)),
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
