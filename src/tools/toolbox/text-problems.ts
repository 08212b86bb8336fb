import type { Tool } from '../../agent/tool.ts';
import { matchesGlob } from '../../policy/rules.ts';
import { reversibleProblem } from '../manifest/checks/check-texts.ts';
import type { CardDeclaration, Manifest, ToolDeclaration } from '../manifest/manifest.ts';
import { parseDisplayTemplate, unknownInputs } from '../presentation/text-template.ts';
import type { ToolEntry } from './toolbox.ts';

/** Returns the texts of the first pattern that matches a tool. */
export function textsFor({ cards }: ToolDeclaration, name: string): Partial<CardDeclaration> {
  return cards.find(({ match }) => matchesGlob(match, name)) ?? {};
}

/** Describes the inputs that the texts of the manifest name and the tool does not have. */
export function textProblems(declaration: ToolDeclaration, { name, inputSchema }: Tool): string[] {
  const { title, done, target, fields = {}, undo } = textsFor(declaration, name);
  const inputs = Object.values(undo?.input ?? {}).filter((value) => typeof value === 'string');
  return [title, done, target, ...Object.values(fields), ...inputs].flatMap((text) => {
    if (text === undefined) return [];
    const { template } = parseDisplayTemplate(text);
    return unknownInputs(template, inputSchema.jsonSchema).map(
      ({ message }) => `${declaration.name}: ${name}: ${message}, which ${JSON.stringify(text)} shows`,
    );
  });
}

/** Describes the patterns that a channel's tools are listed by and that match no tool. */
export function channelProblems(
  { agent }: Pick<Manifest, 'agent'>,
  entries: ReadonlyMap<string, ToolEntry>,
): string[] {
  const names = [...entries.keys()];
  return [...agent.channels].flatMap(([channel, { tools = [] }]) =>
    tools
      .filter((pattern) => !names.some((name) => matchesGlob(pattern, name)))
      .map((pattern) => `agent.channels: ${channel}: there is no tool "${pattern}"`),
  );
}

/** Describes why the manifest's word about taking a call back cannot be meant, where the module says something else. */
export function reversibleProblems(
  declaration: ToolDeclaration,
  name: string,
  entries: ReadonlyMap<string, ToolEntry>,
): string[] {
  const entry = entries.get(name);
  const isFromCode = declaration.kind === 'module' || declaration.kind === 'code';
  if (!isFromCode || entry?.tool.kind !== 'tool') return [];
  const problem = reversibleProblem({
    reversible: textsFor(declaration, name).reversible,
    hasUndo: entry.undo !== undefined,
    onlyReads: entry.tool.effect === 'none',
  });
  return problem === undefined ? [] : [`${declaration.name}: ${name}: ${problem}`];
}

/** Describes why the undo that the manifest declares for a tool cannot work: its tool is not there, or does not take such an input. */
export function undoProblems(
  declaration: ToolDeclaration,
  name: string,
  entries: ReadonlyMap<string, ToolEntry>,
): string[] {
  const { undo } = textsFor(declaration, name);
  if (undo === undefined) return [];
  const report = (problem: string) => `${declaration.name}: ${name}: ${problem}`;
  const reverse = entries.get(undo.tool)?.tool;
  if (reverse?.kind !== 'tool') return [report(`there is no tool "${undo.tool}" that could undo it`)];
  const given = Object.keys(undo.input);
  const { properties, required, additionalProperties } = reverse.inputSchema.jsonSchema;
  const known = typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined;
  const needed = Array.isArray(required) ? required.map(String) : [];
  return [
    ...given
      .filter((key) => additionalProperties === false && known?.includes(key) === false)
      .map((key) => report(`"${undo.tool}" has no input "${key}", which its undo gives`)),
    ...needed
      .filter((key) => !given.includes(key))
      .map((key) => report(`"${undo.tool}" needs the input "${key}", which its undo does not give`)),
  ];
}
