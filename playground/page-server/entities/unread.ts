import type { Message } from '../../slack/state/types.ts';
import { lastReadIn, placeName } from '../read-positions.ts';
import { mentions } from './mentions.ts';
import type { Viewpoint } from './viewpoint.ts';

/** What others said in a channel's main line that this person has not read; nothing where they are no member. */
export function unreadInChannel(viewpoint: Viewpoint, channelId: string): Message[] {
  return isMember(viewpoint, channelId) ? unreadIn(viewpoint, channelId) : [];
}

/** What others said in a thread that this person takes part in and has not read. */
export function unreadInThread(viewpoint: Viewpoint, channelId: string, rootTs: string): Message[] {
  if (!isMember(viewpoint, channelId)) return [];
  const unread = unreadIn(viewpoint, placeName(channelId, rootTs));
  return unread.length > 0 && takesPart(viewpoint, channelId, rootTs) ? unread : [];
}

/** The ts of the roots of all threads of a channel. */
export function threadsIn({ places }: Viewpoint, channelId: string): string[] {
  const prefix = placeName(channelId, '');
  return [...places.keys()]
    .filter((place) => place.startsWith(prefix))
    .map((place) => place.slice(prefix.length));
}

function unreadIn({ places, reads, user }: Viewpoint, place: string): Message[] {
  const lastRead = lastReadIn(reads, user.id, place);
  return (places.get(place) ?? []).filter((message) => message.ts > lastRead && message.user !== user.id);
}

/** Those take part in a thread who began it, wrote in it or were called in it, and both sides of a direct message. */
function takesPart({ state, user, channels, places }: Viewpoint, channelId: string, rootTs: string): boolean {
  if (channels.get(channelId)?.kind === 'im') return true;
  const root = (places.get(channelId) ?? []).filter(({ ts }) => ts === rootTs);
  const thread = [...root, ...(places.get(placeName(channelId, rootTs)) ?? [])];
  return thread.some((message) => message.user === user.id || mentions(state, user, message));
}

function isMember({ channels, user }: Viewpoint, channelId: string): boolean {
  return channels.get(channelId)?.members.has(user.id) ?? false;
}
