import { z } from 'zod';
import { type Message, type UserMessage, userMessage } from '../../agent/messages.ts';
import type { ClaimedTurn } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { NOBODY } from '../requests/task-people.ts';
import { parseThreadId } from '../slack/thread.ts';
import { quoteContext } from './quote.ts';
import { readableText } from './readable-text.ts';

const MAX_TOPIC = 1_000;

/**
 * Reads what is known of a thread's channel beside its messages: its topic and its notes, where the manifest wants them. Both are quoted
 * and are nobody's instruction; their authors are context authors, so that they cannot widen what the task may do. What the thread
 * has read before is not repeated.
 */
export async function readChannelContext(context: BotContext, turn: ClaimedTurn): Promise<UserMessage[]> {
  const { channel } = parseThreadId(turn.threadId);
  const { memory, channels } = context.agent();
  const [topic, notes] = await Promise.all([
    channels.get(channel)?.topic === true ? readTopic(context, channel) : [],
    memory === 'channel' ? readNotes(context, channel) : [],
  ]);
  const known = new Set(turn.messages.flatMap(aboutChannel));
  return [...topic, ...notes].filter((message) => !aboutChannel(message).some((mark) => known.has(mark)));
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

async function readNotes({ store }: BotContext, channel: string): Promise<UserMessage[]> {
  const notes = await store.recall(channel);
  return notes.map(({ id, text, people: [user = NOBODY, ...authors], at }) =>
    userMessage(quoteContext('a note about this channel', text, at / 1_000), {
      ...{ user, authors, role: 'context', about: `note ${id}` },
    }),
  );
}
