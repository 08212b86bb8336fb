import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { askerProblem } from '../../engine/asks/may-ask.ts';
import type { OutboxItem, OutboxRow } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { findPosted, messageMark } from '../slack/find-posted.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';
import { line } from '../views/cards/card.ts';
import { mention, words } from '../views/texts/format.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { escapeMarkup } from '../views/texts/show-text.ts';
import { receiveMessage } from './receive-message.ts';

/** A task that is on record and not posted yet, or the reason why it is not taken. */
type OpenedTask =
  | { readonly outcome: 'refused'; readonly problem: string }
  | {
      readonly outcome: 'recorded';
      /** Posts the task and receives it; resolves to a sentence if Slack refuses it. */
      readonly post: () => Promise<string | undefined>;
    };

/** The time before a task is tried again that Slack has not taken. */
const RETRY_MS = 1_000;

/**
 * Records a task before anybody sees it. This process posts it at once; if it dies, another one posts it, or takes up the message that it
 * finds, so that what stands in the channel is also done.
 */
export async function openTask(context: BotContext, task: GivenTask): Promise<OpenedTask> {
  const { store, directory, timing } = context;
  const { channel, user, about } = task;
  const problem = await askerProblem(directory, context.agent().askers, { user, channel }).catch(
    () => 'not-checked' as const,
  );
  if (problem !== undefined) return { outcome: 'refused', problem: replyTexts.mayNotAsk[problem] };
  const id = randomUUID();
  const threadId = threadIdOf({ channel, threadTs: about?.threadTs ?? id });
  const item = await store.enqueueOutbox(threadId, taskRow(id, task), timing.claimMs);
  return { outcome: 'recorded', post: () => postNow(context, item, task) };
}

/** Posts a task; what Slack does not take now is left to the outbox. */
async function postNow(
  context: BotContext,
  item: OutboxItem & { kind: 'row' },
  task: GivenTask,
): Promise<string | undefined> {
  try {
    return await postTask(context, item, task);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    context.logger.warn({ item: item.item, reason: failure.reason }, 'task not posted, will retry');
    await context.store.retryOutbox(item, (failure.kind === 'later' && failure.afterMs) || RETRY_MS);
    return undefined;
  }
}

/** Posts a task that an earlier attempt left in the outbox, and tells its requester if Slack refuses it. */
export async function sendTask(context: BotContext, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const task = Task.parse(item.body);
  const { channel, user } = task;
  const problem = await postTask(context, item, task);
  if (problem !== undefined)
    await context.store.enqueueOutbox(threadIdOf({ channel, threadTs: item.rowId.replace('task/', '') }), {
      id: `${item.rowId}/refused`,
      body: { kind: 'notice', user, text: problem },
    });
}

/** The message that a task is about. */
const About = z.object({
  ts: z.string(),
  /** The thread that the message is in, or would begin. */
  threadTs: z.string(),
  /** The id of the person or the bot who wrote it. */
  author: z.string(),
  text: z.string(),
});

/** The kind of an outbox row that stands for a task. */
export const TASK = 'task';
const Task = z.object({
  channel: z.string(),
  user: z.string(),
  text: z.string(),
  about: About.optional(),
  botUserId: z.string().optional(),
});
/** A task that somebody gives by a command or a shortcut. */
export type GivenTask = Readonly<z.infer<typeof Task>>;

/** Builds the outbox row that stands for a task until its message is posted and received. */
function taskRow(id: string, task: GivenTask): OutboxRow {
  const { about, botUserId, ...rest } = task;
  const body = {
    kind: TASK,
    ...rest,
    ...(about !== undefined && { about: { ...about } }),
    ...(botUserId !== undefined && { botUserId }),
  };
  return { id: `task/${id}`, body };
}

/**
 * Posts a recorded task where everybody in the channel can read it, with its requester, and receives it as their message: in a new thread,
 * or in the thread of the message that it is about, which is read as context. A message that an earlier attempt has posted is taken
 * up. Returns a sentence if Slack refuses it; throws if Slack cannot be asked now.
 */
async function postTask(
  context: BotContext,
  item: OutboxItem & { kind: 'row' },
  task: GivenTask,
): Promise<string | undefined> {
  const { store } = context;
  const { channel, user, text, about, botUserId } = task;
  const ts = await findOrPost(context, item, task);
  if (ts === undefined) {
    await store.done(item);
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
  await store.done(item);
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
