import type { ChannelEntity, Entity } from '../../../protocol.ts';
import { nameOf } from '../client/store.ts';
import type { Screen } from './routes.ts';

/** Returns the name of a screen, such as "#general" or the other person of a direct message. */
export function screenName(entities: ReadonlyMap<string, Entity>, screen: Screen): string {
  if (screen.kind === 'home') return 'Home';
  const channel = entities.get(`channel:${screen.channel}`);
  return channel?.kind === 'channel' ? channelName(entities, channel) : 'A conversation';
}

/** Returns the name of a channel. */
export function channelName(entities: ReadonlyMap<string, Entity>, channel: ChannelEntity): string {
  if (channel.type === 'im') return nameOf(entities, otherMember(entities, channel));
  return channel.type === 'mpim' ? channel.name : `#${channel.name}`;
}

/** Returns the other member of a direct message. */
export function otherMember(entities: ReadonlyMap<string, Entity>, channel: ChannelEntity): string {
  const workspace = entities.get('workspace');
  const me = workspace?.kind === 'workspace' ? workspace.me : '';
  return channel.members.find((member) => member !== me) ?? me;
}
