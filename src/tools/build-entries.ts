import { type JsonObject, toJson } from '../agent/json.ts';
import type { Tool } from '../agent/tool.ts';
import { builtIns } from './built-in/built-ins.ts';
import { type ApprovalRule, compileApprovalRules } from './gate/approval-rules.ts';
import { gate } from './gate/gate.ts';
import type { BuiltInName, Manifest, ToolDeclaration } from './manifest/manifest.ts';
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

const EVERYWHERE = { channels: undefined, people: undefined };
const ONCE = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Puts every tool behind its gate; a name that is taken already is left out and reported. */
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
  return { entries, problems };
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
