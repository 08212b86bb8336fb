import { isJsonObject, type JsonObject } from '../../../agent/json.ts';
import type { Manifest, ToolDeclaration } from '../manifest.ts';
import {
  compareMembers,
  compareOthers,
  incomparable,
  isSame,
  type PartChange,
  type RuleChange,
  stronger,
  weaker,
} from './change.ts';
import { compareRules } from './compare-rules.ts';
import type { RuledTool } from './situations.ts';

/** The keys of an entry that have a comparison of their own, or decide nothing: rules, limits of output and of attempts. */
const COMPARED: ReadonlySet<string> = new Set([
  'approval',
  'allow',
  'effect',
  'title',
  'done',
  'target',
  'fields',
  'cards',
  'preview',
  'max_output',
  'images',
  'max_attempts',
  'retry_for',
]);
const EFFECTS = ['none', 'idempotent', 'once'];

/** Compares the tools of two manifests: which there are, what they run, who may use them, and their rules. */
export function compareTools(former: Manifest, next: Manifest): RuleChange[] {
  const names = [...new Set([...former.tools, ...next.tools].map(({ name }) => name))];
  return names.flatMap((name) => {
    const [before, now] = [find(former, name), find(next, name)];
    return compareTool(before, now).map((change) => ({ part: `tools.${name}`, ...change }));
  });
}

function find(manifest: Manifest, name: string): RuledTool | undefined {
  const tool = manifest.tools.find((each) => each.name === name);
  return tool && { tool, manifest };
}

function compareTool(former: RuledTool | undefined, next: RuledTool | undefined): PartChange[] {
  if (next === undefined) return [stronger('it is removed')];
  if (former === undefined) return [weaker(`it is new; ${describeRules(next.tool)}`)];
  return [
    ...compareDefinitions(former.tool, next.tool),
    ...compareMembers('people who may use it', former.tool.allow.people, next.tool.allow.people),
    ...compareMembers('channels where it may be used', former.tool.allow.channels, next.tool.allow.channels),
    ...compareEffects(former.tool, next.tool),
    ...compareRules(former, next),
  ];
}

function describeRules({ approval }: ToolDeclaration): string {
  if (approval.length === 0) return 'every call needs approval by "default"';
  const isFree = approval.some(({ require, when }) => require === 'never' || when !== undefined);
  const policies = [...new Set(approval.map(({ policy = 'default' }) => `"${policy}"`))].join(', ');
  return isFree
    ? `some calls run without approval, others need ${policies}`
    : `calls need approval by ${policies}`;
}

function compareDefinitions(former: ToolDeclaration, next: ToolDeclaration): PartChange[] {
  const [before, now] = [withoutHints(former.asWritten), withoutHints(next.asWritten)];
  // The address has the values of the environment.
  const isElsewhere = former.kind !== next.kind || !isSame(addressOf(former), addressOf(next));
  const changed = compareOthers(before, now, COMPARED);
  return [
    ...(changed.length > 0 || isElsewhere ? [incomparable('what it runs has changed')] : []),
    ...(isSame(former.cards, next.cards) ? [] : [incomparable('the words on its cards have changed')]),
  ];
}

/** Whether hints are trusted is compared with the rules. */
function withoutHints(written: JsonObject): JsonObject {
  if (!isJsonObject(written.mcp)) return written;
  const { trust_hints: _, ...mcp } = written.mcp;
  return { ...written, mcp };
}

function addressOf(declaration: ToolDeclaration): unknown {
  if (declaration.kind === 'http') return declaration.definition.url;
  if (declaration.kind === 'module') return declaration.module;
  return declaration.config.transport === 'http' ? declaration.config.url : declaration.config.command;
}

/** A tool that is said to do less is asked again less often, and runs again more easily. */
function compareEffects(
  { effect: former }: ToolDeclaration,
  { effect: next }: ToolDeclaration,
): PartChange[] {
  if (former === next) return [];
  const words = `effect: ${former ?? 'as the tool says'} before, ${next ?? 'as the tool says'} now`;
  if (former === undefined || next === undefined)
    return [next === 'once' ? stronger(words) : incomparable(words)];
  return [EFFECTS.indexOf(next) > EFFECTS.indexOf(former) ? stronger(words) : weaker(words)];
}
