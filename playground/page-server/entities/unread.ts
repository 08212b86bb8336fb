import type { Message } from '../../slack/state/types.ts';
import { lastReadIn, timelineKey } from '../read-positions.ts';
import { isMentioned } from './mentions.ts';
import type { Viewpoint } from './viewpoint.ts';

/** Returns the unread messages of others in a channel's main timeline; empty for a non-member. */
export function unreadInChannel(viewpoint: Viewpoint, channelId: string): Message[] {
  return isMember(viewpoint, channelId) ? unreadIn(viewpoint, channelId) : [];
}

/** Returns the unread messages of others in a thread in which this person participates. */
export function unreadInThread(viewpoint: Viewpoint, channelId: string, rootTs: string): Message[] {
  if (!isMember(viewpoint, channelId)) return [];
  const unread = unreadIn(viewpoint, timelineKey(channelId, rootTs));
  return unread.length > 0 && isParticipant(viewpoint, channelId, rootTs) ? unread : [];
}

/** The ts of the roots of all threads of a channel. */
export function threadsIn({ timelines }: Viewpoint, channelId: string): string[] {
  const prefix = timelineKey(channelId, '');
  return [...timelines.keys()]
    .filter((timeline) => timeline.startsWith(prefix))
    .map((timeline) => timeline.slice(prefix.length));
}

function unreadIn({ timelines, readPositions, user }: Viewpoint, timeline: string): Message[] {
  const lastRead = lastReadIn(readPositions, user.id, timeline);
  return (timelines.get(timeline) ?? []).filter(
    (message) => message.ts > lastRead && message.user !== user.id,
  );
}

/** True for the author of the root, for anyone who replied or was mentioned, and for both sides of a direct message. */
function isParticipant(
  { state, user, channels, timelines }: Viewpoint,
  channelId: string,
  rootTs: string,
): boolean {
  if (channels.get(channelId)?.kind === 'im') return true;
  const root = (timelines.get(channelId) ?? []).filter(({ ts }) => ts === rootTs);
  const thread = [...root, ...(timelines.get(timelineKey(channelId, rootTs)) ?? [])];
  return thread.some((message) => message.user === user.id || isMentioned(state, user, message));
}

function isMember({ channels, user }: Viewpoint, channelId: string): boolean {
  return channels.get(channelId)?.members.has(user.id) ?? false;
}
