import { askerProblem } from '../../engine/asks/may-ask.ts';
import { revisionItem } from '../../engine/revisions.ts';
import { hasActedOn, latestRevision, tellOfRevisions } from '../../engine/turns/intake/inbox-messages.ts';
import type { BotContext } from '../context.ts';
import { redrawWithWords } from '../outbox/words-since.ts';
import { readableText } from '../slack/readable-text.ts';
import { parseThreadId, type SlackThread, threadIdOf } from '../slack/thread.ts';
import { turnContext } from '../turn-context.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { completeStop, stopperOf, withdrawWaiting } from './stop-thread.ts';

/** A message of a person that was edited or, without a text, deleted. */
export interface RevisedMessage {
  readonly thread: SlackThread;
  readonly ts: string;
  readonly user: string;
  readonly text: string | undefined;
  /** The time of the change. */
  readonly revisedAt: string;
}

/**
 * Records that a message was edited or deleted, in a thread that the bot knows. A turn that has not read the message reads it as it is
 * now. If it was read before, its author is offered to redo the task, or told that it was too late.
 */
export async function receiveRevision(
  context: BotContext,
  { thread, ts, user, text, revisedAt }: RevisedMessage,
  botUserId: string | undefined,
): Promise<void> {
  const { store, directory } = context;
  const threadId = threadIdOf(thread);
  const readable = text && (await readableText(text, directory.relaxed(), botUserId));
  const revision = { id: `${ts}/${revisedAt}`, user, revises: ts, text: readable };
  const enqueued = await store.enqueue(threadId, revisionItem(revision), { onlyKnown: true });
  // A copy completes what a first receiver that died has left out.
  if (enqueued.outcome !== 'enqueued' && enqueued.outcome !== 'duplicate') return;
  const { messages } = await store.readThread(threadId);
  const isAtWork = enqueued.outcome === 'enqueued' && (enqueued.busy || enqueued.waiting > 0);
  await tellOfRevisions(turnContext(context), threadId, messages, [revision], isAtWork);
  await redrawWithWords(context, threadId, user, revision.id);
}

/** Withdraws what a person waits for, so that their later words are read; returns the sentence for them. */
export async function startAgain(context: BotContext, value: string, who: string): Promise<string> {
  const [threadId = '', ts = ''] = value.split(' ');
  const { inbox } = await context.store.readThread(threadId, { inboxOnly: true });
  // Words that were read by now have nothing to do with what waits since.
  const isUnread = inbox.some(({ id, body }) => id === ts && body.user === who);
  const { withdrawn } = isUnread ? await withdrawWaiting(context, threadId, who) : { withdrawn: [] };
  return withdrawn.length === 0 ? noticeTexts.nothingToWithdraw : noticeTexts.startsAgain;
}

/** Redoes a task with the edited text: what runs is stopped, what waits is withdrawn. Returns why not, if it is not done. */
export async function redoEdited(
  context: BotContext,
  value: string,
  who: string,
): Promise<string | undefined> {
  const { store } = context;
  const [threadId = '', id = ''] = value.split(' ');
  const [revises = ''] = id.split('/');
  const readAt = Date.now();
  const thread = await store.readThread(threadId);
  const revision = latestRevision(thread, revises);
  if (revision?.text === undefined) return noticeTexts.nothingToRedo;
  if (revision.user !== who) return noticeTexts.onlyAuthorRedoes;
  const { channel } = parseThreadId(threadId);
  const problem = await askerProblem(context.directory, context.agent().askers, { user: who, channel });
  if (problem !== undefined) return replyTexts.mayNotAsk[problem];
  const item = {
    id: `redo ${revision.id}`,
    body: { user: who, text: `(replaces my earlier message) ${revision.text}`, role: 'requester' },
  };
  // A second click completes the first one, as long as its item has not been read.
  if (thread.seen.includes(item.id) && thread.inbox.every((each) => each.id !== item.id))
    return noticeTexts.alreadyRedone;
  if (await hasActedOn(context, threadId, thread.messages, revises))
    return noticeTexts.revised['edited-too-late'];
  // In one step: a later stop could reach the turn that reads the new text.
  const enqueued = await store.enqueue(threadId, item, { stops: stopperOf(threadId, who) });
  if (enqueued.outcome === 'duplicate') await withdrawWaiting(context, threadId, who, readAt);
  else if (enqueued.outcome === 'enqueued' && enqueued.stop !== undefined)
    await completeStop(context, threadId, who, enqueued.stop);
  return undefined;
}
