import { isJsonObject } from '../../agent/json.ts';
import { matchesGlob } from '../gate/approval-rules.ts';
import type { ToolDeclaration } from '../manifest/manifest.ts';
import type { ReadTool } from '../presentation/preview.ts';
import type { ToolEntry } from './toolbox.ts';

const READING_METHODS: readonly unknown[] = ['GET', 'HEAD'];

/** Builds the function that runs tools for a preview. It refuses every tool that could write, or that needs approval itself. */
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
      progress: () => {},
      attach: () => false,
      file: () => false,
      interrupt: () => {
        throw new Error(`${name} needs approval itself, so a preview cannot use it`);
      },
      deny: (reason) => {
        throw new Error(reason);
      },
    });
  };
}

/** Describes why a preview may not use a tool: only one that is declared to have no effect may be used, and over HTTP only a GET. */
function readProblem(name: string, entry: ToolEntry | undefined): string | undefined {
  if (entry?.tool.kind !== 'tool') return `there is no tool "${name}" that a preview could use`;
  const { address } = entry.behind;
  const isReading =
    entry.source !== 'http' || (isJsonObject(address) && READING_METHODS.includes(address.method));
  if (entry.tool.effect === 'none' && isReading) return undefined;
  return `a preview can only read, and "${name}" is not declared to have no effect`;
}

/** Describes the problem of a tool's declared preview, for the log and for `doctor`. */
export function previewProblems(
  { name: source, cards }: ToolDeclaration,
  tool: string,
  entries: ReadonlyMap<string, ToolEntry>,
): string[] {
  const used = cards.find(({ match }) => matchesGlob(match, tool))?.preview?.tool;
  const problem = used === undefined ? undefined : readProblem(used, entries.get(used));
  return problem === undefined ? [] : [`${source}: ${tool}: ${problem}`];
}
