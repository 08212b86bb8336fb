import { z } from 'zod';
import type { RunScript } from './run-script.ts';
import { statement } from './said.ts';

/** Sets a thread aside whose record cannot be read, and gives the reason as it is kept with the thread. */
export async function setAside(
  run: RunScript,
  threadId: string,
  what: string,
  error: unknown,
): Promise<string> {
  const reason = `${what} cannot be read: ${problemOf(error)}`;
  await run('quarantine', { threadId, args: [reason, ...statement({ threadId, reason })] });
  return reason;
}

/** What does not fit and where, in one line. */
export function problemOf(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues
      .map(({ path, message }) => `${path.join('.') || 'the record'}: ${message}`)
      .join('; ');
  return error instanceof Error ? error.message : String(error);
}
