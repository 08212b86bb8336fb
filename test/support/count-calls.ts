import type { Workspace } from '../../playground/slack/workspace.ts';

/** Counts the calls of one method of the Web API so far. */
export function countCalls({ calls }: Workspace, method: string): number {
  return calls.filter((call) => call.method === method).length;
}
