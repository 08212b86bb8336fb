import { problemOf } from './problem-of.ts';
import type { RunScript } from './run-script.ts';
import { statement } from './said.ts';

/** Sets a thread aside whose record cannot be read, and gives the reason as it is kept with the thread; nothing is due any more for the request that is to blame. */
export async function setAside(
  run: RunScript,
  threadId: string,
  what: string,
  error: unknown,
  requestId = '',
): Promise<string> {
  const reason = `${what} cannot be read: ${problemOf(error)}`;
  await run('quarantine', { threadId, args: [reason, ...statement({ threadId, reason }), requestId] });
  return reason;
}
