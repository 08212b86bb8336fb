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
