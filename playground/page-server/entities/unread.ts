import type { Message } from '../../slack/state/types.ts';
import { lastReadIn, timelineKey } from '../read-positions.ts';
import { isMentioned } from './mentions.ts';
import type { Viewpoint } from './viewpoint.ts';

/** What others said in a channel's main line that this person has not read; nothing where they are no member. */
export function unreadInChannel(viewpoint: Viewpoint, channelId: string): Message[] {
  return isMember(viewpoint, channelId) ? unreadIn(viewpoint, channelId) : [];
}

/** What others said in a thread that this person takes part in and has not read. */
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

/** Those take part in a thread who began it, wrote in it or were called in it, and both sides of a direct message. */
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
