import { type JsonObject, toJson } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import { builtIns } from '../built-ins.ts';
import { type ApprovalRule, compileApprovalRules } from '../gate/approval-rules.ts';
import { gate } from '../gate/gate.ts';
import type { BuiltInName, Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import type { Secrets } from '../secrets.ts';
import { protect } from './protect-tool.ts';
import type { ToolSource } from './tool-source.ts';
import type { Place, ToolEntry } from './toolbox.ts';
import { MOST_TOOLS } from './toolbox.ts';

/** A tool as the toolbox keeps it: with its rules, and where it may be used. */
export interface KeptEntry extends ToolEntry {
  readonly rules: readonly ApprovalRule[];
  readonly allow: ToolDeclaration['allow'];
}

/** More names than this are no help in a log. */
const MOST_NAMED = 10;
const EVERYWHERE = { channels: undefined, people: undefined };
const ONCE = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Puts every tool behind its gate; a name that is taken is left out, and what a model has no room for is never silently so. */
export function buildEntries(
  manifest: Manifest,
  sources: readonly ToolSource[],
  secrets: Secrets,
): { readonly entries: ReadonlyMap<string, KeptEntry>; readonly problems: readonly string[] } {
  const entries = new Map<string, KeptEntry>(
    builtInEntries(manifest).map((entry) => [entry.tool.name, entry]),
  );
  const problems: string[] = sources.flatMap((source) => source.problems());
  for (const source of sources) {
    for (const tool of source.tools()) {
      if (entries.has(tool.name))
        problems.push(`${source.declaration.name}: the name "${tool.name}" is taken; it is left out`);
      else entries.set(tool.name, buildEntry(source, tool, secrets));
    }
  }
  const crowded = new Set([...crowdedOut(entries.values())].map(({ tool }) => tool.name));
  for (const source of sources) {
    const names = source.tools().flatMap(({ name }) => (crowded.delete(name) ? [name] : []));
    if (names.length > 0) problems.push(`${source.declaration.name}: ${crowdedProblem(names)}`);
  }
  return { entries, problems };
}

function crowdedProblem(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  const named = `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
  return `a model takes at most ${MOST_TOOLS} tools at once; left out where there are more: ${named}; take tools out of the manifest, or say with "allow" where they are used`;
}

function builtInEntries({ agent }: Manifest): KeptEntry[] {
  const uses: ReadonlyMap<string, string> = new Map(
    Object.entries(agent.builtIns) satisfies [string | BuiltInName, string][],
  );
  return builtIns
    .filter(({ name }) => uses.get(name) !== 'off')
    .map((tool) => ({
      tool,
      source: 'built-in',
      execution: ONCE,
      behind: {},
      answerableBy: uses.get(tool.name) === 'requester' ? 'requester' : 'anyone',
      rules: [],
      allow: EVERYWHERE,
    }));
}

function buildEntry({ declaration, hintsOf }: ToolSource, given: Tool, secrets: Secrets): KeptEntry {
  const tool = { ...given, description: shortenDescription(given.description) };
  const { kind, allow, maxAttempts, retryForMs, maxOutput } = declaration;
  const hints = declaration.kind === 'mcp' && declaration.trustHints ? hintsOf(tool.name) : undefined;
  // A trusted hint speaks last: what the manifest says of the tool goes before it.
  const trusted: ApprovalRule[] = hints?.readOnly === true ? [{ require: 'never' }] : [];
  const rules = [...declaration.approval, ...trusted];
  const base = { source: kind, behind: behindOf(declaration), answerableBy: 'anyone', rules, allow } as const;
  if (tool.kind === 'interrupt') return { ...base, tool, execution: ONCE };
  const idempotent = declaration.idempotent ?? hints?.idempotent ?? tool.idempotent;
  const protectedTool = protect(
    { ...tool, idempotent },
    { secrets, maxOutput, untrusted: kind !== 'module' },
  );
  return {
    ...base,
    tool: gate(protectedTool, compileApprovalRules(rules)),
    execution: {
      idempotent,
      maxAttempts: idempotent ? maxAttempts : 1,
      retryForMs: idempotent ? retryForMs : 0,
    },
  };
}

/** Headers may hold secrets, which change without changing what a call does. */
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

/** What the model is offered in a place: the first of those that may be used there, and never more than it takes. */
export function offeredEntries(entries: Iterable<KeptEntry>, place: Place): KeptEntry[] {
  return entriesIn(entries, place).slice(0, MOST_TOOLS);
}

/** The entries that some place has no room for. */
export function crowdedOut(entries: Iterable<KeptEntry>): ReadonlySet<KeptEntry> {
  const all = [...entries];
  if (all.length <= MOST_TOOLS) return new Set();
  // Whoever and wherever no entry names is one more person and one more place.
  const channels = new Set(['', ...all.flatMap(({ allow }) => allow.channels ?? [])]);
  const people = new Set(['', ...all.flatMap(({ allow }) => allow.people ?? [])]);
  const places = [...channels].flatMap((channel) => [...people].map((requester) => ({ channel, requester })));
  return new Set(places.flatMap((place) => entriesIn(all, place).slice(MOST_TOOLS)));
}

function entriesIn(entries: Iterable<KeptEntry>, { channel, requester }: Place): KeptEntry[] {
  return [...entries].filter(({ allow: { channels, people } }) => {
    const here = channels === undefined || channels.includes(channel);
    return here && (people === undefined || people.includes(requester));
  });
}

const LONGEST_DESCRIPTION = 1024;

/** Cuts what a tool says of itself to what models take: a longer one would cost every request with that tool in it. */
export function shortenDescription(description: string): string {
  if (description.length <= LONGEST_DESCRIPTION) return description;
  // Half of a surrogate pair would be no text.
  return `${description.slice(0, LONGEST_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
