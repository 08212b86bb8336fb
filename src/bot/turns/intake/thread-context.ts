import { z } from 'zod';
import { BYTES_PER_TOKEN } from '../../../agent/history.ts';
import { type Message, type UserMessage, userMessage } from '../../../agent/messages.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import type { ClaimedTurn, InboxItem } from '../../../store/port/store.ts';
import type { BotContext } from '../../context.ts';
import type { Directory } from '../../slack/directory.ts';
import { parseThreadId } from '../../slack/thread.ts';
import type { ThreadMessage } from '../../slack/thread-reader.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { quoteContext } from '../../views/texts/quote.ts';
import type { AttachedFile } from './attached-files.ts';
import { readableText } from './readable-text.ts';

/** The most tokens of a thread that one turn reads, and the largest share of what the model is sent. */
const MAX_TOKENS = 8_000;
const MAX_SHARE = 0.25;
/** The most people who are looked up for one read; the others go by their ids. */
const MAX_LOOK_UPS = 20;

/** The earlier messages of a thread, for the model. */
interface ThreadContext {
  /** Quoted, in order; they give nobody authority. */
  readonly messages: readonly UserMessage[];
  /** The files of the messages. */
  readonly files: readonly AttachedFile[];
  /** The inbox item up to which the thread was read whole; the next read begins there. */
  readonly readTo: string | undefined;
}

const NOTHING: ThreadContext = { messages: [], files: [], readTo: undefined };

/**
 * Reads what was written in a thread before the newest mention, and since the last read. Messages that are on record or in the inbox
 * are not repeated. Where Slack does not let the thread be read, people and the model are told, and the turn goes on without it.
 */
export async function readThreadContext(
  context: BotContext,
  turn: ClaimedTurn,
  unread: readonly InboxItem[],
  signal: AbortSignal,
): Promise<ThreadContext> {
  const { threadId } = turn;
  const thread = parseThreadId(threadId);
  const { context: mode, channels, contextBudget } = context.agent();
  const before = unread.findLast(({ id, body }) => body.mention === true && id !== thread.threadTs)?.id;
  if (before === undefined || (channels.get(thread.channel)?.context ?? mode) !== 'thread') return NOTHING;

  const tokens = Math.min(MAX_TOKENS, Math.floor((contextBudget ?? Number.POSITIVE_INFINITY) * MAX_SHARE));
  const range = { since: lastReadIn(turn.messages), before, maxBytes: tokens * BYTES_PER_TOKEN };
  const read = await context.threads.read(thread, range, signal);
  if (read.outcome !== 'read') {
    context.logger.warn({ threadId, ...read }, 'thread not read');
    const text = noticeTexts.threadNotRead[read.outcome];
    // Once for each thread: a scope that is missing would be told with every mention.
    await context.store.enqueueOutbox(threadId, {
      id: `${threadId}/thread-not-read`,
      body: { kind: 'notice', ...thread, text },
    });
    return { ...NOTHING, messages: [note('The earlier messages of this thread could not be read')] };
  }

  const { user: ownUser } = await context.directory.self();
  // A message that arrived as an event was read, or answered a question.
  const { seen } = await context.store.readThread(threadId);
  const known = new Set([...knownIn(turn.messages), ...seen]);
  const isNew = ({ ts, author }: ThreadMessage) => author !== ownUser && !known.has(ts);
  const names = boundedNames(context.directory.relaxed());
  const quote = async ({ ts, author, botName, text }: ThreadMessage): Promise<UserMessage> => {
    const name = botName ?? (await names.member(author).catch(() => ({ name: author }))).name;
    const readable = await readableText(text, names, ownUser);
    return userMessage(quoteContext(name, readable, Number(ts)), { user: author, role: 'context', ts });
  };
  const messages: UserMessage[] = [];
  const files = [...(read.first === undefined ? [] : [read.first]), ...read.messages]
    .filter(isNew)
    .flatMap(({ author, files: attached }) => attached.map((file) => ({ file, user: author })));
  // One after the other, so that the people who are looked up are those who wrote first.
  if (read.first !== undefined && isNew(read.first)) messages.push(await quote(read.first));
  if (read.omitted > 0) messages.push(note(`${read.omitted} messages of this thread were left out here`));
  for (const message of read.messages) if (isNew(message)) messages.push(await quote(message));
  if (read.hasMore) messages.push(note('The messages of this thread that follow were not read'));
  return { messages, files, readTo: read.hasMore ? undefined : before };
}

/** Tells the model something about the thread that nobody wrote. */
function note(text: string): UserMessage {
  return userMessage(`[${text}]`, { role: 'context' });
}

/** Lists the messages of Slack that a history holds; what nobody wrote has no `ts`. */
export function knownIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => {
    const ts = message.role === 'user' ? message.metadata?.ts : undefined;
    return typeof ts === 'string' ? [ts] : [];
  });
}

/** Finds the message up to which the thread was last read. */
function lastReadIn(messages: readonly Message[]): string | undefined {
  const last = messages.findLast(
    (message) => message.role === 'user' && message.metadata?.threadRead === true,
  );
  return last === undefined ? undefined : knownIn([last])[0];
}

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

/**
 * Reads the topic of a thread's channel, where the manifest wants it, unless the thread has read it before. It is quoted and nobody's
 * instruction; its author is a context author, so that it cannot widen what the task may do.
 */
export async function readChannelContext(context: BotContext, turn: ClaimedTurn): Promise<UserMessage[]> {
  const { channel } = parseThreadId(turn.threadId);
  if (context.agent().channels.get(channel)?.topic !== true) return [];
  const known = new Set(turn.messages.flatMap(aboutChannel));
  return (await readTopic(context, channel)).filter(
    (message) => !aboutChannel(message).some((mark) => known.has(mark)),
  );
}

/** The mark of a message about the channel, by which it is recognized. */
function aboutChannel(message: Message): string[] {
  const mark = message.role === 'user' ? message.metadata?.about : undefined;
  return typeof mark === 'string' ? [mark] : [];
}

const Described = z.object({ topic: z.object({ value: z.string(), creator: z.string() }) });

async function readTopic(context: BotContext, channel: string): Promise<UserMessage[]> {
  try {
    const { channel: found } = await context.client.conversations.info({ channel });
    const { data } = Described.safeParse(found);
    if (data === undefined || data.topic.value.trim() === '') return [];
    const { value, creator } = data.topic;
    const text = await readableText(value.slice(0, MAX_TOPIC), context.directory.relaxed(), undefined);
    const metadata = { user: creator || NOBODY, role: 'context', about: `topic ${text}` };
    return [userMessage(quoteContext("the channel's topic", text), metadata)];
  } catch (err) {
    context.logger.warn({ channel, err }, 'topic not read');
    return [];
  }
}
