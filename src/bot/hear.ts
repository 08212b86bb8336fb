import type { TakenTurn } from '../store/port.ts';
import { askQuestion } from '../tools/built-ins.ts';
import type { BotParts } from './bot-parts.ts';
import { answer } from './decisions/decide.ts';
import { readableText } from './readable-text.ts';
import { detailsOf } from './request-details.ts';
import { stopThread, withdrawWaiting } from './stop-thread.ts';
import { playTurn } from './take-turn.ts';
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

/** The question that some words answer. */
interface Meant {
  readonly requestId: string;
  readonly value: string | string[];
  readonly askedAt: number;
}

const QUEUED = 'eyes';

/**
 * Takes what somebody said into the thread's inbox, once, to be read in its turn. A reply of the person asked answers their
 * question and `stop` stops; the item is there first all the same, since it is what tells a copy of the event from the event.
 */
export async function hear(parts: BotParts, heard: Heard, botUserId: string | undefined): Promise<void> {
  const { store, directory } = parts;
  const { thread, ts, user, toBot } = heard;
  const threadId = threadIdOf(thread);
  const text = await readableText(heard.text, directory, botUserId);
  const stops = /^stop[.!]?$/i.test(text);
  if (!stops && (await readAtOnce(parts, heard, text))) return;
  const meant = stops ? undefined : await answerMeant(parts, threadId, user, text);
  const body = {
    user,
    text,
    ...(stops && { stops }),
    ...(meant !== undefined && { answers: meant.requestId }),
  };

  const put = await store.put(threadId, { id: ts, body }, { onlyKnown: !toBot });
  if (put.outcome === 'duplicate') {
    await hearAgain(parts, heard, { stops, meant });
    return;
  }
  if (put.outcome !== 'put') return;
  if (stops) {
    // What the item itself has woken is nothing to stop.
    const goesOn = put.busy || put.waiting > 0;
    if (goesOn && (await stopThread(parts, threadId, user))) return;
    await store.putOutbox(threadId, {
      id: `${threadId}/${ts}/nothing-to-stop`,
      body: { kind: 'notice', ...thread, text: 'There is nothing of yours to stop here.' },
    });
    return;
  }
  if (
    meant !== undefined &&
    (await answer(parts, meant.requestId, { who: user, id: ts }, meant.value)) === undefined
  )
    return;
  if (put.waiting > 0 || put.busy) await markQueued(parts, heard);
}

/**
 * Whoever heard it first may have died between the inbox and what the words were meant to do. Slack sends it again then, and what
 * still waits since before they were said is seen to; what was asked later has nothing to do with them.
 */
async function hearAgain(
  parts: BotParts,
  { thread, ts, user }: Heard,
  { stops, meant }: { readonly stops: boolean; readonly meant: Meant | undefined },
): Promise<void> {
  const saidAt = Number(ts) * 1_000;
  if (stops) await withdrawWaiting(parts, threadIdOf(thread), user, saidAt);
  if (meant !== undefined && meant.askedAt <= saidAt)
    await answer(parts, meant.requestId, { who: user, id: ts }, meant.value);
}

/** Takes what was said and reads it in the same step, where nothing waits and this process has a hand free; tells whether it did. */
async function readAtOnce(parts: BotParts, heard: Heard, text: string): Promise<boolean> {
  const { store, turns, timing } = parts;
  const { thread, ts, user, toBot } = heard;
  const release = turns.reserve();
  if (release === undefined) return false;
  try {
    const item = { id: ts, body: { user, text } };
    const options = { leaseMs: timing.leaseMs, onlyKnown: !toBot };
    const put = await store.putAndTake(threadIdOf(thread), item, options);
    if (put.outcome === 'put' && put.turn !== undefined) goOn(parts, put.turn);
    else if (put.outcome === 'put' && put.busy) await markQueued(parts, heard);
    return put.outcome !== 'waiting';
  } finally {
    release();
  }
}

function goOn(parts: BotParts, turn: TakenTurn): void {
  const { threadId } = turn;
  const playing = playTurn(parts, turn);
  playing.catch((err) => parts.logger.warn({ threadId, err }, 'a turn broke off'));
  parts.turns.goOn(threadId, playing);
}

async function markQueued({ client, logger }: BotParts, { thread, ts }: Heard): Promise<void> {
  try {
    await client.reactions.add({ channel: thread.channel, timestamp: ts, name: QUEUED });
  } catch (err) {
    logger.debug({ threadId: threadIdOf(thread), err }, 'a queued message was not marked');
  }
}

/** A reply in the thread is the answer to the one question there that its author may answer with words of their own. */
async function answerMeant(
  { store }: BotParts,
  threadId: string,
  user: string,
  text: string,
): Promise<Meant | undefined> {
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome !== 'found' || loaded.request.kind !== 'question') continue;
    const { request } = loaded;
    if (request.requester !== user) continue;
    const question = askQuestion.inputSchema.parse(detailsOf(request).interrupt.toolRequest.input);
    if (!question.ok) continue;
    const { choices, allowOther, several } = question.value;
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (choice === undefined && !allowOther && choices.length > 0) continue;
    const value = choice ?? text;
    return { requestId, value: several ? [value] : value, askedAt: request.createdAt };
  }
  return undefined;
}
