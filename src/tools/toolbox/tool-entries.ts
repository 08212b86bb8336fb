import { type JsonObject, toJson } from '../../agent/json.ts';
import type { Effect, Tool } from '../../agent/tool.ts';
import { builtIns } from '../built-ins.ts';
import {
  type ApprovalRule,
  compileApprovalRules,
  DEFAULT_POLICY_NAME,
  matchesGlob,
} from '../gate/approval-rules.ts';
import { gate } from '../gate/gate.ts';
import type { PolicyOf } from '../gate/strictest.ts';
import type { BuiltInName, Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import type { McpHints } from '../mcp/build-tools.ts';
import type { Secrets } from '../secrets.ts';
import { type Action, protectTool } from './protect-tool.ts';
import type { ToolSource } from './tool-source.ts';
import { type AroundRun, MAX_TOOLS, type Place, type ToolEntry } from './toolbox.ts';

/** An entry with its approval rules and the places where it may be used. */
export interface RuledEntry extends ToolEntry {
  readonly rules: readonly ApprovalRule[];
  readonly allow: ToolDeclaration['allow'];
}

/** More names than this do not help in a log. */
const MAX_NAMED = 10;
/** A longer description would cost tokens in every request with that tool. */
const MAX_DESCRIPTION = 1024;
const EVERYWHERE = { channels: undefined, people: undefined };
const ONE_ATTEMPT = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Puts every tool behind its gate. A tool whose name is taken, or that a model has no room for, is left out with a problem. */
export function buildEntries(
  manifest: Manifest,
  sources: readonly ToolSource[],
  { secrets, around }: { readonly secrets: Secrets; readonly around?: AroundRun | undefined },
): { readonly entries: ReadonlyMap<string, RuledEntry>; readonly problems: readonly string[] } {
  const entries = new Map<string, RuledEntry>(
    builtInEntries(manifest).map((entry) => [entry.tool.name, entry]),
  );
  const problems: string[] = sources.flatMap((source) => source.problems());
  for (const source of sources) {
    for (const tool of source.tools()) {
      if (entries.has(tool.name))
        problems.push(`${source.declaration.name}: the name "${tool.name}" is taken; it is left out`);
      else
        entries.set(
          tool.name,
          buildEntry(source, tool, { secrets, around, policyOf: (name) => manifest.policies.get(name) }),
        );
    }
  }
  const leftOut = new Set([...entriesOverLimit(entries.values())].map(({ tool }) => tool.name));
  for (const source of sources) {
    const names = source.tools().flatMap(({ name }) => (leftOut.delete(name) ? [name] : []));
    if (names.length > 0) problems.push(`${source.declaration.name}: ${limitProblem(names)}`);
  }
  return { entries, problems };
}

/** Returns the entries that the model is offered in a place: the first that may be used there, at most `MAX_TOOLS`. */
export function offeredEntries(entries: Iterable<RuledEntry>, place: Place): RuledEntry[] {
  return entriesIn(entries, place).slice(0, MAX_TOOLS);
}

/** Returns the entries that are over the limit in at least one place. */
function entriesOverLimit(entries: Iterable<RuledEntry>): ReadonlySet<RuledEntry> {
  const all = [...entries];
  if (all.length <= MAX_TOOLS) return new Set();
  // The empty id stands for every person and channel that no entry names.
  const channels = new Set(['', ...all.flatMap(({ allow }) => allow.channels ?? [])]);
  const people = new Set(['', ...all.flatMap(({ allow }) => allow.people ?? [])]);
  const places = [...channels].flatMap((channel) => [...people].map((requester) => ({ channel, requester })));
  return new Set(places.flatMap((place) => entriesIn(all, place).slice(MAX_TOOLS)));
}

function entriesIn(entries: Iterable<RuledEntry>, { channel, requester, others = [] }: Place): RuledEntry[] {
  return [...entries].filter(({ allow: { channels, people } }) => {
    const isHere = channels === undefined || channels.includes(channel);
    return (
      isHere && (people === undefined || [requester, ...others].every((person) => people.includes(person)))
    );
  });
}

function limitProblem(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const named = `${names.slice(0, MAX_NAMED).join(', ')}${more}`;
  return `a model takes at most ${MAX_TOOLS} tools at once; left out where there are more: ${named}; remove tools from the manifest, or limit with "allow" where they are used`;
}

function builtInEntries({ agent }: Manifest): RuledEntry[] {
  const uses: ReadonlyMap<string, string> = new Map(
    Object.entries(agent.builtIns) satisfies [string | BuiltInName, string][],
  );
  return builtIns
    .filter(({ name }) => uses.get(name) !== 'off')
    .map((tool) => ({
      tool,
      source: 'built-in',
      execution: ONE_ATTEMPT,
      behind: {},
      answerableBy: uses.get(tool.name) === 'requester' ? 'requester' : 'anyone',
      rules: [],
      allow: EVERYWHERE,
    }));
}

interface EntryOptions {
  readonly secrets: Secrets;
  readonly around: AroundRun | undefined;
  readonly policyOf: PolicyOf;
}

function buildEntry(
  { declaration, hintsOf }: ToolSource,
  given: Tool,
  { secrets, around, policyOf }: EntryOptions,
): RuledEntry {
  const tool = { ...given, description: shortenDescription(given.description) };
  const { kind, allow, maxAttempts, retryForMs, maxOutput } = declaration;
  const hints = declaration.kind === 'mcp' && declaration.trustHints ? hintsOf(tool.name) : undefined;
  // A trusted hint comes last, after the rules of the manifest.
  const trusted: ApprovalRule[] = hints?.readOnly === true ? [{ require: 'never' }] : [];
  const rules = [...declaration.approval, ...trusted];
  const base = { source: kind, behind: behindOf(declaration), answerableBy: 'anyone', rules, allow } as const;
  if (tool.kind === 'interrupt') return { ...base, tool, execution: ONE_ATTEMPT };
  const effect = declaration.effect ?? (hints === undefined ? undefined : hintedEffect(hints)) ?? tool.effect;
  const idempotent = effect !== 'once';
  const protectedTool = protectTool(
    { ...tool, effect },
    { secrets, maxOutput, untrusted: kind !== 'module' },
  );
  return {
    ...base,
    resolvedBy: policyFor(tool.name, rules),
    tool: gate(watchTool(protectedTool, around), compileApprovalRules(rules), policyOf),
    execution: {
      idempotent,
      maxAttempts: idempotent ? maxAttempts : 1,
      retryForMs: idempotent ? retryForMs : 0,
    },
  };
}

function watchTool(tool: Action, around: AroundRun | undefined): Action {
  if (around === undefined) return tool;
  return {
    ...tool,
    run: (input, helpers) => around(tool.name, input, helpers, (given) => tool.run(input, given)),
  };
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

/** Leaves out headers: they may hold secrets, and a rotated secret does not change what a call does. */
function behindOf(declaration: ToolDeclaration): JsonObject {
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
