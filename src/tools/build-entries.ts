import { type JsonObject, toJson } from '../agent/json.ts';
import type { Tool } from '../agent/tool.ts';
import { builtIns } from './built-in/built-ins.ts';
import { type ApprovalRule, compileApprovalRules } from './gate/approval-rules.ts';
import { gate } from './gate/gate.ts';
import type { BuiltInName, Manifest, ToolDeclaration } from './manifest/manifest.ts';
import { MOST_TOOLS } from './most-tools.ts';
import { crowdedOut } from './offered-entries.ts';
import { protect } from './protect.ts';
import type { Secrets } from './secrets.ts';
import { shortenDescription } from './shorten-description.ts';
import type { ToolSource } from './sources/open-source.ts';
import type { ToolEntry } from './toolbox.ts';

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
