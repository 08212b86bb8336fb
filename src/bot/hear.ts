import { askQuestion } from '../tools/built-in/ask-question.ts';
import type { BotParts } from './bot-parts.ts';
import { answer } from './decisions/decide.ts';
import { readableText } from './readable-text.ts';
import { detailsOf } from './request-details.ts';
import { stopThread } from './stop-thread.ts';
import { type SlackThread, threadIdOf } from './thread.ts';

/** Something that a person said in Slack. */
export interface Heard {
  readonly thread: SlackThread;
  readonly ts: string;
  readonly user: string;
  readonly text: string;
  /** Whether it was said to the bot: a mention or a direct message, and not just a reply in a thread. */
  readonly toBot: boolean;
}

const QUEUED = 'eyes';

/**
 * Takes what somebody said: a reply of the person asked answers their question, `stop` stops, and anything else goes into the
 * thread's inbox, once, and is read in its turn.
 */
export async function hear(parts: BotParts, heard: Heard, botUserId: string | undefined): Promise<void> {
  const { store, directory, client, logger } = parts;
  const { thread, ts, user, toBot } = heard;
  const threadId = threadIdOf(thread);
  const text = await readableText(heard.text, directory, botUserId);
  if (/^stop[.!]?$/i.test(text) && (await stopThread(parts, threadId, user))) return;
  if (await answersQuestion(parts, threadId, heard, text)) return;

  const put = await store.put(threadId, { id: ts, body: { user, text } }, { onlyKnown: !toBot });
  if (put.outcome !== 'put' || (put.waiting === 0 && !put.busy)) return;
  try {
    await client.reactions.add({ channel: thread.channel, timestamp: ts, name: QUEUED });
  } catch (err) {
    logger.debug({ threadId, err }, 'a queued message was not marked');
  }
}

/** A reply in the thread is the answer to the one question there that its author may answer with words of their own. */
async function answersQuestion(
  parts: BotParts,
  threadId: string,
  { ts, user }: Heard,
  text: string,
): Promise<boolean> {
  for (const requestId of await parts.store.waitingIn(threadId)) {
    const loaded = await parts.store.load(requestId);
    if (loaded.outcome !== 'found' || loaded.request.kind !== 'question') continue;
    const { request } = loaded;
    const question = askQuestion.inputSchema.parse(detailsOf(request).interrupt.toolRequest.input);
    if (!question.ok) continue;
    const { choices, allowOther, several } = question.value;
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (choice === undefined && !allowOther && choices.length > 0) continue;
    if (request.requester !== user) continue;
    const value = choice ?? text;
    if ((await answer(parts, requestId, { who: user, id: ts }, several ? [value] : value)) === undefined)
      return true;
  }
  return false;
}
