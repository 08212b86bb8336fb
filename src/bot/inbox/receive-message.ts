import { type JsonObject, toJson } from '../../agent/json.ts';
import { askerProblem } from '../../engine/asks/may-ask.ts';
import { parseCallerThread, wordsItem } from '../../engine/caller-threads.ts';
import type { AttachedFile } from '../../engine/ports.ts';
import { runTurn } from '../../engine/turns/run-turn.ts';
import { currentTrace, inSpan } from '../../observe/tracing.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { EnqueueOptions } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { callerThreadBelow } from '../outbox/caller-words.ts';
import { reportStop } from '../outbox/stop-report.ts';
import { redrawWithWords } from '../outbox/words-since.ts';
import { markQueued } from '../slack/queued-mark.ts';
import { readableText } from '../slack/readable-text.ts';
import { type SlackThread, threadIdOf } from '../slack/thread.ts';
import { turnContext } from '../turn-context.ts';
import { START_AGAIN } from '../views/cards/action-ids.ts';
import { questionOf } from '../views/cards/card-details.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { answer } from './decisions/decide.ts';
import { completeStop, isStop, stopperOf, withdrawWaiting } from './stop-thread.ts';

/** A message of a person in Slack. */
export interface SlackMessage {
  readonly thread: SlackThread;
  readonly ts: string;
  readonly user: string;
  readonly text: string;
  /** Whether it addresses the bot, by a mention or a direct message; otherwise it is a reply in a thread. */
  readonly toBot: boolean;
  /** Whether it mentions the bot in a channel, where others may have written before. */
  readonly mention: boolean;
  readonly files: readonly AttachedFile[];
}

/** The open question that a message answers. */
interface AnsweredQuestion {
  readonly request: RequestRecord;
  readonly value: string | string[];
}

/**
 * Records a message in the thread's inbox, once, and starts a turn if the thread is free. A message of the person asked can answer
 * their question, and `stop` stops. The item is recorded first in any case, because it tells a copy of the event from the event.
 */
export function receiveMessage(
  context: BotContext,
  message: SlackMessage,
  botUserId: string | undefined,
): Promise<void> {
  const attributes = { 'gen_ai.conversation.id': threadIdOf(message.thread) };
  return inSpan('receive message', { kind: 'consumer', attributes }, () =>
    recordMessage(context, message, botUserId),
  );
}

async function recordMessage(
  context: BotContext,
  message: SlackMessage,
  botUserId: string | undefined,
): Promise<void> {
  const { store, directory } = context;
  const { thread, ts, user } = message;
  const threadId = threadIdOf(thread);
  const text = await readableText(message.text, directory.relaxed(), botUserId);
  const belowCard = thread.threadTs === ts ? undefined : await callerThreadBelow(context, thread);
  if (belowCard !== undefined) return receiveForCaller(context, message, text, belowCard);
  const problem = await askerProblem(directory, context.agent().askers, { user, channel: thread.channel });
  if (problem !== undefined) return receiveFromOther(context, message, text, replyTexts.mayNotAsk[problem]);
  const stops = isStop(text);
  if (!stops && (await startTurn(context, message, text))) return;
  const answered = stops || text === '' ? undefined : await findAnswered(context, threadId, user, text);
  const marks = {
    ...(stops && { stops }),
    ...(answered !== undefined && { answers: answered.request.id }),
  };
  const instructs = await isInstruction(context, message);
  const { body, options } = toItem(message, text, instructs, marks);

  // The stop is on record with the item: this process may die here, together with the turn.
  const stopped = stops && { stops: stopperOf(threadId, user) };
  const enqueued = await store.enqueue(threadId, { id: ts, body }, { ...options, ...stopped });
  if (enqueued.outcome === 'duplicate') {
    await receiveCopy(context, message, { stops, answered });
    return;
  }
  if (enqueued.outcome !== 'enqueued') return;
  if (enqueued.stop !== undefined) {
    const requests = await completeStop(context, threadId, user, enqueued.stop);
    if (requests !== undefined) return reportStop(context, threadId, requests, `/${ts}`);
    await store.enqueueOutbox(threadId, {
      id: `${threadId}/${ts}/nothing-to-stop`,
      body: { kind: 'notice', ...thread, text: replyTexts.nothingToStop },
    });
    return;
  }
  if (answered !== undefined && (await giveAnswer(context, message, answered))) return;
  if (instructs && (enqueued.waiting > 0 || enqueued.busy)) await markQueued(context, thread, ts);
  if (enqueued.waiting > 0) await showWords(context, message);
}

/**
 * Keeps what a person who may ask writes below a caller's card for the caller. No model reads it; who addresses the bot there is told so,
 * or why it is not passed on.
 */
async function receiveForCaller(
  { store, directory, agent }: BotContext,
  { thread, ts, user, toBot }: SlackMessage,
  text: string,
  callerThread: string,
): Promise<void> {
  const caller = parseCallerThread(callerThread)?.caller ?? '';
  const problem = await askerProblem(directory, agent().askers, { user, channel: thread.channel });
  if (problem === undefined)
    await store.enqueue(callerThread, wordsItem(ts, { by: user, text }), { onlyKnown: true });
  if (!toBot) return;
  await store.enqueueOutbox(callerThread, {
    id: `${callerThread}/${ts}/passed-on`,
    body: { kind: 'private', ...thread, user, text: problem ?? noticeTexts.passedOn(caller) },
  });
}

/** Shows what a requester has written on the cards that wait, and offers them to withdraw what they asked for and start again. */
async function showWords(context: BotContext, { thread, ts, user }: SlackMessage): Promise<void> {
  const threadId = threadIdOf(thread);
  const waiting = await redrawWithWords(context, threadId, user, ts);
  if (waiting === 0) return;
  const button = { actionId: START_AGAIN, text: noticeTexts.startAgain, value: `${threadId} ${ts}` };
  await context.store.enqueueOutbox(threadId, {
    id: `${threadId}/${ts}/waits-still`,
    body: { kind: 'private', ...thread, user, text: noticeTexts.waitsStill(waiting), button },
  });
}

/**
 * Records the words of a person who may not ask, as context of a known thread, and tells them so, once, if they meant the bot. Only in
 * a thread with replies can they be told privately: Slack shows no ephemeral message in a thread without any.
 */
async function receiveFromOther(
  { store }: BotContext,
  { thread, ts, user, toBot, files }: SlackMessage,
  text: string,
  problem: string,
): Promise<void> {
  const threadId = threadIdOf(thread);
  const body = { user, text, role: 'context', mayAsk: false, ...attached(files) };
  await store.enqueue(threadId, { id: ts, body }, { onlyKnown: true });
  // Also for a copy: the first receiver may have died before it told them, and the row's id makes it the same row.
  if (!toBot) return;
  const kind = thread.threadTs === ts ? 'notice' : 'private';
  await store.enqueueOutbox(threadId, {
    id: `${threadId}/${ts}/may-not-ask`,
    body: { kind, ...thread, user, text: problem },
  });
}

/** Tells whether the words of a message are an instruction also while the thread is at work: it addresses the bot, or a requester wrote it. */
async function isInstruction(
  { store, turns }: BotContext,
  { toBot, thread, user }: SlackMessage,
): Promise<boolean> {
  const threadId = threadIdOf(thread);
  if (toBot || turns.requestersIn(threadId).includes(user)) return true;
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome === 'found' && loaded.request.requesters.includes(user)) return true;
  }
  return false;
}

/**
 * Builds the inbox item of a message. A message to the bot is an instruction; whether any other is one is decided when it is read, by
 * what its author has asked before. An instruction that has to wait is `queued`: its mark in Slack is removed when it was read.
 */
function toItem(
  { user, toBot, mention, files }: SlackMessage,
  text: string,
  instructs: boolean,
  marks: JsonObject = {},
): { readonly body: JsonObject; readonly options: EnqueueOptions } {
  const trace = currentTrace();
  const said = { user, text, ...(mention && { mention }), ...attached(files) };
  const role = toBot ? 'requester' : 'context';
  const body = { ...said, ...marks, role, ...(trace !== undefined && { trace }) };
  const queued = instructs && { bodyAtWork: { ...body, queued: true } };
  return { body, options: { ...(!toBot && { onlyKnown: true }), ...queued } };
}

function attached(files: readonly AttachedFile[]): JsonObject {
  return files.length === 0 ? {} : { files: toJson(files) };
}

/** Enqueues a message and starts its turn in one step; returns `false`, with nothing enqueued, while requests are open or at the limit. */
async function startTurn(context: BotContext, message: SlackMessage, text: string): Promise<boolean> {
  const { store, turns, timing, logger } = context;
  const { thread, ts } = message;
  const threadId = threadIdOf(thread);
  const release = turns.reserve();
  if (release === undefined) return false;
  try {
    const instructs = message.toBot || turns.requestersIn(threadId).includes(message.user);
    const { body, options } = toItem(message, text, instructs);
    const item = { id: ts, body };
    const sentAt = performance.now();
    const enqueued = await store.enqueue(threadId, item, { ...options, leaseMs: timing.leaseMs });
    if (enqueued.outcome === 'enqueued') {
      const { turn, busy } = enqueued;
      if (turn !== undefined)
        turns.runInBackground(
          threadId,
          () => runTurn(turnContext(context), turn, sentAt),
          (err) => logger.warn({ threadId, err }, 'turn failed'),
        );
      else if (busy && instructs) await markQueued(context, thread, ts);
    }
    return enqueued.outcome !== 'waiting';
  } finally {
    release();
  }
}

/**
 * Completes the effect of a message whose first receiver may have died after it was recorded: Slack sends it again, and what was open
 * before it was written is withdrawn or answered. What was asked later has nothing to do with it.
 */
async function receiveCopy(
  context: BotContext,
  message: SlackMessage,
  { stops, answered }: { readonly stops: boolean; readonly answered: AnsweredQuestion | undefined },
): Promise<void> {
  const writtenAt = Number(message.ts) * 1_000;
  // That the turn is to stop is on record with the item.
  if (stops) await withdrawWaiting(context, threadIdOf(message.thread), message.user, writtenAt);
  if (answered !== undefined && answered.request.createdAt <= writtenAt)
    await giveAnswer(context, message, answered);
}

/** Answers a question with a message; a person whose answer is refused is told why. */
async function giveAnswer(
  context: BotContext,
  { thread, user, ts }: SlackMessage,
  { request, value }: AnsweredQuestion,
): Promise<boolean> {
  const problem = await answer(context, request, { who: user, id: ts }, value);
  if (problem === undefined) return true;
  const threadId = threadIdOf(thread);
  await context.store.enqueueOutbox(threadId, {
    id: `${threadId}/${ts}/not-answered`,
    body: { kind: 'private', ...thread, user, text: problem },
  });
  return false;
}

/** Finds the open question of the thread that its author may answer with this text. */
async function findAnswered(
  { store }: BotContext,
  threadId: string,
  user: string,
  text: string,
): Promise<AnsweredQuestion | undefined> {
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome !== 'found' || loaded.request.kind !== 'question') continue;
    const { request } = loaded;
    if (!request.requesters.includes(user)) continue;
    const { choices, allowOther, several } = questionOf(request);
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (choice === undefined && !allowOther) continue;
    const value = choice ?? text;
    return { request, value: several ? [value] : value };
  }
  return undefined;
}
