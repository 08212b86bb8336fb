import type { ChannelEntity, Entity } from '../../../protocol.ts';
import { nameOf } from '../client/store.ts';
import type { Place } from './routes.ts';

/** What people call a place, such as "#general" or the name of whom a direct message is with. */
export function placeName(entities: ReadonlyMap<string, Entity>, place: Place): string {
  if (place.kind === 'home') return 'Home';
  const channel = entities.get(`channel:${place.channel}`);
  return channel?.kind === 'channel' ? channelName(entities, channel) : 'A conversation';
}

/** What people call a channel. */
export function channelName(entities: ReadonlyMap<string, Entity>, channel: ChannelEntity): string {
  return channel.type === 'im' ? nameOf(entities, otherMember(entities, channel)) : `#${channel.name}`;
}

/** Whom a direct message is with. */
export function otherMember(entities: ReadonlyMap<string, Entity>, channel: ChannelEntity): string {
  const workspace = entities.get('workspace');
  const me = workspace?.kind === 'workspace' ? workspace.me : '';
  return channel.members.find((member) => member !== me) ?? me;
}
