import { describeReadError } from '../../port/request-record.ts';
import type { RunScript } from '../run-script.ts';

/** Quarantines a thread whose record cannot be read, removes the timers of the unreadable request, and returns the stored reason. */
export async function quarantine(
  run: RunScript,
  threadId: string,
  what: string,
  error: unknown,
  requestId = '',
): Promise<string> {
  const reason = `${what} cannot be read: ${describeReadError(error)}`;
  await run('quarantine', { threadId, args: [reason, ...run.auditBody({ threadId, reason }), requestId] });
  return reason;
}
