import type { Message } from './types.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** Adds a person's reaction; false when it was already there. */
export function addReaction(state: WorkspaceState, message: Message, name: string, userId: string): boolean {
  const existing = message.reactions.find((reaction) => reaction.name === name);
  if (existing?.users.includes(userId)) return false;
  if (existing === undefined) message.reactions.push({ name, users: [userId] });
  else existing.users.push(userId);
  announce(state, 'reaction_added', message, name, userId);
  return true;
}

/** Removes a person's reaction; false when there was none. */
export function removeReaction(
  state: WorkspaceState,
  message: Message,
  name: string,
  userId: string,
): boolean {
  const existing = message.reactions.find((reaction) => reaction.name === name);
  if (!existing?.users.includes(userId)) return false;
  existing.users = existing.users.filter((user) => user !== userId);
  message.reactions = message.reactions.filter((reaction) => reaction.users.length > 0);
  announce(state, 'reaction_removed', message, name, userId);
  return true;
}

function announce(
  state: WorkspaceState,
  type: 'reaction_added' | 'reaction_removed',
  message: Message,
  reaction: string,
  user: string,
): void {
  const channel = state.channels.get(message.channel);
  const item = { type: 'message', channel: message.channel, ts: message.ts };
  state.emitEvent({
    subscription: type,
    event: { type, user, reaction, item, item_user: message.user },
    ...(channel !== undefined && { channel }),
  });
}
