import type { ThreadEntity } from '../../protocol.ts';
import { lastReadIn, placeName } from '../read-positions.ts';
import { threadsIn, unreadInThread } from './unread.ts';
import type { Viewpoint } from './viewpoint.ts';

/** The threads of the conversations a person can see; a message without replies is none. */
export function threadEntities(viewpoint: Viewpoint): ThreadEntity[] {
  const { channels, places, reads, user } = viewpoint;
  return [...channels.keys()].flatMap((channel) =>
    threadsIn(viewpoint, channel).map((ts): ThreadEntity => {
      const place = placeName(channel, ts);
      const replies = places.get(place) ?? [];
      return {
        key: `thread:${place}`,
        kind: 'thread',
        channel,
        ts,
        replies: replies.length,
        participants: [...new Set(replies.map((reply) => reply.user))],
        lastReply: replies.at(-1)?.ts ?? ts,
        lastRead: lastReadIn(reads, user.id, place),
        unread: unreadInThread(viewpoint, channel, ts).length,
      };
    }),
  );
}
