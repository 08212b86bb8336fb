import type { Channel, User } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { NotPossible } from './not-possible.ts';

/** Adds a person to a channel and emits `member_joined_channel`. */
export function joinChannel(state: WorkspaceState, user: User, channel: Channel, inviter?: string): void {
  if (channel.kind === 'im' || channel.kind === 'mpim')
    throw new NotPossible('Nobody can join the direct messages of others.');
  if (channel.is_archived) throw new NotPossible(`#${channel.name} is archived; nobody can join it.`);
  if (channel.members.has(user.id)) throw new NotPossible(`${user.name} is already in #${channel.name}.`);
  channel.members.add(user.id);
  announceMember(state, 'member_joined_channel', user, channel, inviter);
}

/** Removes a person from a channel and emits `member_left_channel`. */
export function leaveChannel(state: WorkspaceState, user: User, channel: Channel): void {
  if (channel.kind === 'im' || channel.kind === 'mpim')
    throw new NotPossible('Nobody can leave their own direct messages.');
  channel.members.delete(user.id);
  announceMember(state, 'member_left_channel', user, channel);
}

function announceMember(
  state: WorkspaceState,
  type: 'member_joined_channel' | 'member_left_channel',
  user: User,
  channel: Channel,
  inviter?: string,
): void {
  const channel_type = channel.kind === 'public' ? 'C' : 'G';
  const event = { type, user: user.id, channel: channel.id, channel_type, team: user.team_id };
  const invitation = inviter === undefined ? {} : { inviter };
  state.emitEvent({ subscription: type, event: { ...event, ...invitation }, channel });
}
