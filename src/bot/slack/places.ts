import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Places, WrittenMessage } from '../../engine/ports.ts';
import type { Directory } from './directory.ts';
import type { FileHost } from './file-host.ts';
import { unmarkQueued } from './queued-mark.ts';
import { readableText } from './readable-text.ts';
import { parseThreadId, placeIn, type SlackThread } from './thread.ts';
import type { ThreadMessage, ThreadReader } from './thread-reader.ts';

interface SlackContext {
  readonly client: WebClient;
  readonly threads: Pick<ThreadReader, 'read'>;
  readonly fileHost: Pick<FileHost, 'describe' | 'read'>;
  readonly directory: Directory;
  readonly status: {
    end(
      thread: SlackThread,
      end: { readonly session: 'active'; readonly isFollowed: boolean; readonly isStreamed: boolean },
    ): void;
    leave(thread: SlackThread): void;
  };
  readonly logger: Logger;
}

/** Makes the threads and channels of Slack the places of the engine. */
export function slackPlaces(context: SlackContext): Places {
  const { fileHost, status } = context;
  return {
    isFirst: (threadId, messageId) => parseThreadId(threadId).threadTs === messageId,
    // Files are shared in a thread.
    takesFiles: (threadId) => placeIn(threadId).threadTs !== undefined,
    readThread: (...range) => readThread(context, ...range),
    topicOf: (channel) => topicOf(context, channel),
    describeFile: (file) => fileHost.describe(file),
    readFile: (file, limits, signal) => fileHost.read(file, limits, signal),
    markRead: (turn) => unmarkQueued(context, turn),
    stopped: (threadId) =>
      status.end(parseThreadId(threadId), { session: 'active', isFollowed: false, isStreamed: false }),
    leave: (threadId) => status.leave(parseThreadId(threadId)),
  };
}

/** Reads a thread with the names of its authors, who are looked up in the order in which they wrote. */
async function readThread(
  { threads, directory }: SlackContext,
  threadId: string,
  { known, ...range }: Parameters<Places['readThread']>[1],
  signal: AbortSignal,
): ReturnType<Places['readThread']> {
  const read = await threads.read(parseThreadId(threadId), range, signal);
  if (read.outcome !== 'read') return read;
  const { user: ownUser } = await directory.self();
  const ids = await known();
  const names = boundedNames(directory.relaxed());
  const isNew = ({ ts, author }: ThreadMessage) => author !== ownUser && !ids.has(ts);
  const written = async (message: ThreadMessage): Promise<WrittenMessage> => {
    const { ts: id, author, botName, files } = message;
    const name = botName ?? (await names.member(author).catch(() => ({ name: author }))).name;
    const text = await readableText(message.text, names, ownUser);
    return { id, author, name, text, at: Number(id), files };
  };
  const first = read.first !== undefined && isNew(read.first) ? await written(read.first) : undefined;
  const messages: WrittenMessage[] = [];
  for (const message of read.messages) if (isNew(message)) messages.push(await written(message));
  return { ...read, first, messages };
}

/** The most people who are looked up for one read; the others go by their ids. */
const MAX_LOOK_UPS = 20;

/** Limits the people who are looked up in Slack: a thread can have hundreds of authors. */
function boundedNames(directory: Pick<Directory, 'member'>): Pick<Directory, 'member'> {
  const asked = new Set<string>();
  return {
    member(id) {
      if (!asked.has(id) && asked.size >= MAX_LOOK_UPS)
        return Promise.reject(new Error('too many people to look up'));
      asked.add(id);
      return directory.member(id);
    },
  };
}

const MAX_TOPIC = 1_000;
const Described = z.object({ topic: z.object({ value: z.string(), creator: z.string() }) });

async function topicOf({ client, directory }: SlackContext, channel: string): ReturnType<Places['topicOf']> {
  const { channel: found } = await client.conversations.info({ channel });
  const { data } = Described.safeParse(found);
  if (data === undefined || data.topic.value.trim() === '') return undefined;
  const { value, creator } = data.topic;
  const text = await readableText(value.slice(0, MAX_TOPIC), directory.relaxed(), undefined);
  return { text, author: creator };
}
