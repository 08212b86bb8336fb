import type { WorkspaceState } from '../slack/state/workspace-state.ts';
import type { ThreadOpening } from './tour-steps.ts';

/** What people said in channels to begin a thread, oldest first; replies and the app's own messages begin none. */
export function readThreadOpenings({
  messages,
  app,
}: Pick<WorkspaceState, 'messages' | 'app'>): readonly ThreadOpening[] {
  return messages
    .filter(({ user, deleted, ts, thread_ts = ts }) => user !== app.botUserId && !deleted && thread_ts === ts)
    .map(({ channel, ts, text }) => ({ threadId: `${channel}:${ts}`, text }));
}

/** What is needed of a connection to Redis. */
export interface HashReader {
  hvals(key: string): Promise<readonly string[]>;
}

/** The amounts of all refunds that the sample ledger has booked, in cents; one booking a key, as `src/store/redis-ledger.ts` keeps them. */
export async function readRefunds(client: HashReader, prefix = 'countersign:'): Promise<readonly number[]> {
  return (await client.hvals(`${prefix}{ledger}:refunds`)).map(Number);
}
