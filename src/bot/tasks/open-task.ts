import { line, mention, words } from '../cards/card.ts';
import { escapeMarkup } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { askerProblem } from '../intake/may-ask.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';
import { replyTexts } from '../texts/replies.ts';
import { receiveMessage } from '../turns/receive-message.ts';

/** A message that a task is about. */
export interface AboutMessage {
  readonly ts: string;
  /** The thread that the message is in, or would begin. */
  readonly threadTs: string;
  /** The id of the person or the bot who wrote it. */
  readonly author: string;
  readonly text: string;
}

/** A task that somebody gives by a command or a shortcut. */
export interface GivenTask {
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly about?: AboutMessage | undefined;
}

/**
 * Posts the task where everybody in the channel can read it, with its requester, and receives it as their message: in a new thread, or in
 * the thread of the message that it is about, which is read as context. Returns a sentence if it is not done.
 */
export async function openTask(
  context: BotContext,
  { channel, user, text, about }: GivenTask,
  botUserId: string | undefined,
): Promise<string | undefined> {
  const { client, store, directory } = context;
  const problem = await askerProblem(directory, context.agent().askers, { user, channel }).catch(
    () => replyTexts.askerNotChecked,
  );
  if (problem !== undefined) return problem;
  const posted = await client.chat
    .postMessage({
      channel,
      ...(about !== undefined && { thread_ts: about.threadTs }),
      text: `<@${user}>${escapeMarkup(replyTexts.asks)}${escapeMarkup(text)}`,
      blocks: [line(mention(user), words(`${replyTexts.asks}${text}`))],
      unfurl_links: false,
      unfurl_media: false,
    })
    .catch((error: unknown) => judgeSlackFailure(error));
  if ('kind' in posted)
    return posted.kind === 'later' ? replyTexts.askerNotChecked : replyTexts.cannotPostHere;
  const { ts = '' } = posted;
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
  return undefined;
}
