import type { WorkspaceState } from '../slack/state/workspace-state.ts';
import type { Opening } from './tour.ts';

/** What people said in channels to begin a thread, oldest first; replies and the app's own messages begin none. */
export function readOpenings({
  messages,
  app,
}: Pick<WorkspaceState, 'messages' | 'app'>): readonly Opening[] {
  return messages
    .filter(({ user, deleted, ts, thread_ts = ts }) => user !== app.botUserId && !deleted && thread_ts === ts)
    .map(({ channel, ts, text }) => ({ threadId: `${channel}:${ts}`, text }));
}
