import { z } from 'zod';
import type { OutboxItem, OutboxRow } from '../../store/port/store.ts';
import { line, mention, words } from '../cards/card.ts';
import { escapeMarkup } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { findPosted, messageMark } from '../delivery/find-posted.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';
import { replyTexts } from '../texts/replies.ts';
import { receiveMessage } from '../turns/receive-message.ts';

/** The message that a task is about. */
const About = z.object({
  ts: z.string(),
  /** The thread that the message is in, or would begin. */
  threadTs: z.string(),
  /** The id of the person or the bot who wrote it. */
  author: z.string(),
  text: z.string(),
});

const TASK = 'task';
const Task = z.object({
  channel: z.string(),
  user: z.string(),
  text: z.string(),
  about: About.optional(),
  botUserId: z.string().optional(),
});
/** A task that somebody gives by a command or a shortcut. */
export type GivenTask = Readonly<z.infer<typeof Task>>;
const TaskRow = Task.extend({ kind: z.literal(TASK) });

/** Builds the outbox row that stands for a task until its message is posted and received. */
export function taskRow(id: string, task: GivenTask): OutboxRow {
  const { about, botUserId, ...rest } = task;
  const body = {
    ...{ kind: TASK, ...rest },
    ...(about !== undefined && { about: { ...about } }),
    ...(botUserId !== undefined && { botUserId }),
  };
  return { id: `task/${id}`, body };
}

/** Reads the task of an outbox row; `undefined` if the row is another. */
export function parseTaskRow({ body }: OutboxItem & { kind: 'row' }): GivenTask | undefined {
  return TaskRow.safeParse(body).data;
}

/**
 * Posts a recorded task where everybody in the channel can read it, with its requester, and receives it as their message: in a new thread,
 * or in the thread of the message that it is about, which is read as context. A message that an earlier attempt has posted is taken
 * up. Returns a sentence if Slack refuses it; throws if Slack cannot be asked now.
 */
export async function postTask(
  context: BotContext,
  item: OutboxItem & { kind: 'row' },
  task: GivenTask,
): Promise<string | undefined> {
  const { store } = context;
  const { channel, user, text, about, botUserId } = task;
  const ts = await findOrPost(context, item, task);
  if (ts === undefined) {
    await store.doneRow(item);
    return replyTexts.cannotPostHere;
  }
  const thread = { channel, threadTs: about?.threadTs ?? ts };
  if (about !== undefined) {
    // Words of the bot itself are nobody's; the person who points at them adds nothing to the task by it.
    const author = about.author === botUserId ? user : about.author;
    const body = { user: author, text: about.text, role: 'context', mayAsk: false };
    await store.enqueue(threadIdOf(thread), { id: `about ${about.ts} ${ts}`, body });
  }
  await receiveMessage(
    context,
    { thread, ts, user, text, files: [], toBot: true, mention: about !== undefined },
    botUserId,
  );
  await store.doneRow(item);
  return undefined;
}

async function findOrPost(
  { client, logger }: BotContext,
  item: OutboxItem,
  { channel, user, text, about }: GivenTask,
): Promise<string | undefined> {
  const threadTs = about?.threadTs;
  try {
    const earlier = item.tries > 0 ? await findPosted(client, item.item, { channel, threadTs }) : undefined;
    if (earlier !== undefined) return earlier;
    const { ts = '' } = await client.chat.postMessage({
      channel,
      ...(threadTs !== undefined && { thread_ts: threadTs }),
      text: `<@${user}>${escapeMarkup(replyTexts.asks)}${escapeMarkup(text)}`,
      blocks: [line(mention(user), words(`${replyTexts.asks}${text}`))],
      metadata: messageMark(item.item),
      unfurl_links: false,
      unfurl_media: false,
    });
    return ts;
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    logger.info({ channel, reason: failure.reason }, 'task not posted');
    return undefined;
  }
}
