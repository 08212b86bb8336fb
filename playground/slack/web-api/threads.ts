import { isTimestamp } from '../ids.ts';
import type { Channel } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { optionalString } from './arguments.ts';
import { requireScope } from './channels.ts';
import { Refusal } from './refusal.ts';

/** Arguments that change an app's name or icon, which need their own scope. */
export const appearance = { username: optionalString, icon_emoji: optionalString, icon_url: optionalString };

/** Refuses a custom name or icon without the scope for it. */
export function requireAppearance(
  state: WorkspaceState,
  given: { [Key in keyof typeof appearance]?: string | undefined },
): void {
  const isChanged = [given.username, given.icon_emoji, given.icon_url].some((value) => value !== undefined);
  if (isChanged) requireScope(state, 'chat:write.customize');
}

/** Returns the author fields of the app's messages. */
export function authorship(state: WorkspaceState) {
  return { user: state.app.botUserId, bot_id: state.app.botId, app_id: state.app.id };
}

/** Returns the root of a thread; refuses a reply as root. */
export function requireThread(state: WorkspaceState, channel: Channel, threadTs: string): string {
  if (!isTimestamp(threadTs)) {
    const messages = [`[ERROR] ${threadTs} is not a valid thread_ts`];
    throw new Refusal('invalid_thread_ts', { response_metadata: { messages } });
  }
  const root = state.findMessage(channel.id, threadTs);
  if (root === undefined) throw new Refusal('thread_not_found');
  if (root.thread_ts !== undefined) throw new Refusal('cannot_reply_to_message');
  return root.ts;
}
