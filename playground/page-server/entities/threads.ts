import type { ThreadEntity } from '../../protocol.ts';
import { lastReadIn, timelineKey } from '../read-positions.ts';
import { threadsIn, unreadInThread } from './unread.ts';
import type { Viewpoint } from './viewpoint.ts';

/** The threads of the conversations a person can see; a message without replies is none. */
export function threadEntities(viewpoint: Viewpoint): ThreadEntity[] {
  const { channels, timelines, readPositions, user } = viewpoint;
  return [...channels.keys()].flatMap((channel) =>
    threadsIn(viewpoint, channel).map((ts): ThreadEntity => {
      const timeline = timelineKey(channel, ts);
      const replies = timelines.get(timeline) ?? [];
      return {
        key: `thread:${timeline}`,
        kind: 'thread',
        channel,
        ts,
        replies: replies.length,
        participants: [...new Set(replies.map((reply) => reply.user))],
        lastReply: replies.at(-1)?.ts ?? ts,
        lastRead: lastReadIn(readPositions, user.id, timeline),
        unread: unreadInThread(viewpoint, channel, ts).length,
      };
    }),
  );
}
