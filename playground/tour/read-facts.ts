import type { WorkspaceState } from '../slack/state/workspace-state.ts';
import type { ThreadOpening } from './tour-steps.ts';

/** Lists people's messages that started a thread, oldest first. */
export function readThreadOpenings({
  messages,
  app,
}: Pick<WorkspaceState, 'messages' | 'app'>): readonly ThreadOpening[] {
  return messages
    .filter(({ user, deleted, ts, thread_ts = ts }) => user !== app.botUserId && !deleted && thread_ts === ts)
    .map(({ channel, ts, text }) => ({ threadId: `${channel}:${ts}`, text }));
}

/** The part of a Redis connection that is needed. */
export interface HashReader {
  hvals(key: string): Promise<readonly string[]>;
}

/** Reads the amounts of all booked refunds in cents, as `src/store/redis-ledger.ts` stores them. */
export async function readRefunds(client: HashReader, prefix = 'countersign:'): Promise<readonly number[]> {
  return (await client.hvals(`${prefix}{ledger}:refunds`)).map(Number);
}
