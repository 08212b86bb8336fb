import { isJsonObject } from '../../agent/json.ts';
import type { ReadTool } from '../presentation/linked-call.ts';
import type { ToolEntry } from './toolbox.ts';

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
export function readProblem(
  name: string,
  entry: ToolEntry | undefined,
  user: 'a preview' | 'a policy' | 'a freeze' = 'a preview',
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
