import type { Channel } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { Refusal } from './refusal.ts';
import { CHANNEL_SCOPES } from './scopes.ts';

/** Returns a channel that the bot can see: a public one, or one it is in. */
export function visibleChannel(state: WorkspaceState, id: string): Channel {
  const channel = state.channels.get(id);
  const isVisible =
    channel !== undefined && (channel.kind === 'public' || channel.members.has(state.app.botUserId));
  if (!isVisible) throw new Refusal('channel_not_found');
  return channel;
}

/** Returns a channel that the app's scopes allow it to read. */
export function readableChannel(
  state: WorkspaceState,
  id: string,
  what: keyof typeof CHANNEL_SCOPES,
): Channel {
  const channel = visibleChannel(state, id);
  requireScope(state, CHANNEL_SCOPES[what][channel.kind]);
  return channel;
}

/** Returns the channel to post to, by id, by name, or by a person's id for their direct messages. */
export function postingChannel(state: WorkspaceState, target: string): Channel {
  const user = state.users.get(target);
  if (user !== undefined) {
    if (user.deleted || user.is_stranger || user.is_bot) throw new Refusal('channel_not_found');
    return state.openDirectMessage(user.id);
  }
  const named = [...state.channels.values()].find(
    (channel) => channel.kind !== 'im' && channel.name === target.replace(/^#/, ''),
  );
  const channel = visibleChannel(state, named?.id ?? target);
  if (channel.is_archived) throw new Refusal('is_archived');
  const isMember = channel.members.has(state.app.botUserId);
  if (!isMember && !state.app.scopes.includes('chat:write.public')) throw new Refusal('not_in_channel');
  if (!isMember) state.used.scopes.add('chat:write.public');
  return channel;
}

/** Refuses when the app has none of these scopes; marks the one it has as used. */
export function requireScope(state: WorkspaceState, ...oneOf: readonly string[]): void {
  const granted = oneOf.find((scope) => state.app.scopes.includes(scope));
  if (granted !== undefined) {
    state.used.scopes.add(granted);
    return;
  }
  throw new Refusal('missing_scope', { needed: oneOf.join(','), provided: state.app.scopes.join(',') });
}
