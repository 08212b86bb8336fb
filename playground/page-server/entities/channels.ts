import type { ChannelEntity } from '../../protocol.ts';
import type { Channel } from '../../slack/state/types.ts';
import { lastReadIn } from '../read-positions.ts';
import { isMentioned } from './mentions.ts';
import { threadsIn, unreadInChannel, unreadInThread } from './unread.ts';
import type { Viewpoint } from './viewpoint.ts';

/** The conversations a person can see; a direct message has the name of the other side, a group's those of the others. */
export function channelEntities(viewpoint: Viewpoint): ChannelEntity[] {
  return [...viewpoint.channels.values()].map((channel) => {
    const { id, kind, members, is_archived } = channel;
    const unread = unreadInChannel(viewpoint, id);
    const inThreads = threadsIn(viewpoint, id).flatMap((ts) => unreadInThread(viewpoint, id, ts));
    const forThisPerson = [...unread, ...inThreads].filter(
      (message) => kind === 'im' || kind === 'mpim' || isMentioned(viewpoint.state, viewpoint.user, message),
    );
    return {
      key: `channel:${id}`,
      kind: 'channel',
      id,
      name: nameFor(viewpoint, channel),
      type: kind,
      isArchived: is_archived,
      isMember: members.has(viewpoint.user.id),
      members: [...members],
      lastRead: lastReadIn(viewpoint.readPositions, viewpoint.user.id, id),
      unread: unread.length,
      mentions: forThisPerson.length,
    };
  });
}

function nameFor({ state, user }: Viewpoint, { kind, name, members }: Channel): string {
  if (kind === 'mpim')
    return [...members]
      .filter((member) => member !== user.id)
      .map((member) => state.users.get(member)?.real_name ?? member)
      .join(', ');
  if (kind !== 'im') return name;
  const other = [...members].find((member) => member !== user.id);
  return state.users.get(other ?? user.id)?.real_name ?? name;
}
