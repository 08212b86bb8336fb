import { BYTES_PER_TOKEN } from '../../../agent/history.ts';
import { type Message, type UserMessage, userMessage } from '../../../agent/messages.ts';
import type { ClaimedTurn, InboxItem } from '../../../store/port/values.ts';
import { channelOf, type WrittenMessage } from '../../ports.ts';
import { instructingSince, NOBODY } from '../../task-people.ts';
import { type TurnContext, tell } from '../turn-context.ts';
import type { FileOfPerson } from './attached-files.ts';
import { quoteContext } from './quote.ts';

/** The most tokens of a thread that one turn reads, and the largest share of what the model is sent. */
const MAX_TOKENS = 8_000;
const MAX_SHARE = 0.25;

/** The earlier messages of a thread, for the model. */
interface ThreadContext {
  /** Quoted, in order; they give nobody authority. */
  readonly messages: readonly UserMessage[];
  /** The files of the messages. */
  readonly files: readonly FileOfPerson[];
  /** The inbox item up to which the thread was read whole; the next read begins there. */
  readonly readTo: string | undefined;
}

const NOTHING: ThreadContext = { messages: [], files: [], readTo: undefined };

/**
 * Reads what was written in a thread before the newest mention, and since the last read. Messages that are on record or in the inbox
 * are not repeated. Where the thread may not be read, people and the model are told, and the turn goes on without it.
 */
export async function readThreadContext(
  context: TurnContext,
  turn: ClaimedTurn,
  unread: readonly InboxItem[],
  signal: AbortSignal,
): Promise<ThreadContext> {
  const { places, store, logger } = context;
  const { threadId } = turn;
  const { context: mode, channels, contextBudget } = context.agent();
  const before = unread.findLast(
    ({ id, body }) => body.mention === true && !places.isFirst(threadId, id),
  )?.id;
  if (before === undefined || (channels.get(channelOf(threadId))?.context ?? mode) !== 'thread')
    return NOTHING;

  const tokens = Math.min(MAX_TOKENS, Math.floor((contextBudget ?? Number.POSITIVE_INFINITY) * MAX_SHARE));
  const range = {
    since: lastReadIn(turn.messages),
    before,
    maxBytes: tokens * BYTES_PER_TOKEN,
    known: () => knownTo(store, turn),
  };
  const read = await places.readThread(threadId, range, signal);
  if (read.outcome !== 'read') {
    logger.warn({ threadId, ...read }, 'thread not read');
    await tell(context, threadId, { code: 'thread-not-read', why: read.outcome });
    return { ...NOTHING, messages: [note('The earlier messages of this thread could not be read')] };
  }

  const written = [...(read.first === undefined ? [] : [read.first]), ...read.messages];
  const messages = [
    ...(read.first === undefined ? [] : [quote(read.first)]),
    ...(read.omitted > 0 ? [note(`${read.omitted} messages of this thread were left out here`)] : []),
    ...read.messages.map(quote),
    ...(read.hasMore ? [note('The messages of this thread that follow were not read')] : []),
  ];
  const files = written.flatMap(({ author, files: attached }) =>
    attached.map((file) => ({ file, user: author })),
  );
  return { messages, files, readTo: read.hasMore ? undefined : before };
}

/**
 * Returns the messages that the model knows. One that arrived as an event was read, or answered a question; one that waits for a later
 * turn was read by nobody yet.
 */
async function knownTo(
  store: Pick<TurnContext['store'], 'readThread'>,
  turn: ClaimedTurn,
): Promise<ReadonlySet<string>> {
  const { seen, inbox } = await store.readThread(turn.threadId);
  const waiting = new Set(inbox.filter((item) => isUnreadContext(item, turn)).map(({ id }) => id));
  return new Set([...knownIn(turn.messages), ...seen.filter((id) => !waiting.has(id))]);
}

/** Tells whether an item arrived after a turn was claimed, and is nobody's instruction: that would be read, as one, in a turn of its own. */
function isUnreadContext({ id, body }: InboxItem, { inbox, messages }: ClaimedTurn): boolean {
  const instructs = instructingSince(messages).has(String(body.user));
  const isOthers = body.role === 'context' && body.stops !== true && !instructs;
  return isOthers && !inbox.some((item) => item.id === id);
}

function quote({ id, author, name, text, at }: WrittenMessage): UserMessage {
  return userMessage(quoteContext(name, text, at), { user: author, role: 'context', ts: id });
}

/** Tells the model something about the thread that nobody wrote. */
function note(text: string): UserMessage {
  return userMessage(`[${text}]`, { role: 'context' });
}

/** Lists the messages of its place that a history holds; what nobody wrote has no `ts`. */
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

/**
 * Reads the topic of a thread's channel, where the manifest wants it, unless the thread has read it before. It is quoted and nobody's
 * instruction; its author is a context author, so that it cannot widen what the task may do.
 */
export async function readChannelContext(context: TurnContext, turn: ClaimedTurn): Promise<UserMessage[]> {
  const channel = channelOf(turn.threadId);
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

async function readTopic({ places, logger }: TurnContext, channel: string): Promise<UserMessage[]> {
  try {
    const topic = await places.topicOf(channel);
    if (topic === undefined) return [];
    const { text, author } = topic;
    const metadata = { user: author || NOBODY, role: 'context', about: `topic ${text}` };
    return [userMessage(quoteContext("the channel's topic", text), metadata)];
  } catch (err) {
    logger.warn({ channel, err }, 'topic not read');
    return [];
  }
}
