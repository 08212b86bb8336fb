import type { Message } from '../../agent/messages.ts';
import type { OutboxRow } from '../../store/port/store.ts';
import * as ids from '../cards/action-ids.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';
import { noticeTexts } from '../texts/notices.ts';
import { type Revision, revisedIn } from './revisions.ts';

/**
 * Offers the authors of instructions that were read before they were edited to redo the task, once for each edit. If one was deleted while
 * its thread is at work, its author is told how to stop.
 */
export async function tellOfRevisions(
  context: BotContext,
  threadId: string,
  messages: readonly Message[],
  late: readonly Revision[],
  isAtWork = false,
): Promise<void> {
  for (const revision of late) {
    if (revisedIn(messages, revision)?.metadata?.role !== 'requester') continue;
    if (revision.text === undefined && !isAtWork) continue;
    const hasActed = await hasActedOn(context, threadId, messages, revision.revises);
    await context.store.enqueueOutbox(threadId, rowFor(threadId, revision, hasActed));
  }
}

function rowFor(threadId: string, { id, text }: Revision, hasActed: boolean): OutboxRow {
  const notice = { kind: 'notice', ...parseThreadId(threadId) };
  const rowId = `${threadId}/${id}/revised`;
  if (text === undefined) return { id: rowId, body: { ...notice, text: noticeTexts.deletedLate } };
  if (hasActed) return { id: rowId, body: { ...notice, text: noticeTexts.editedTooLate } };
  const button = { actionId: ids.REDO, text: noticeTexts.redo, value: `${threadId} ${id}` };
  return { id: rowId, body: { ...notice, text: noticeTexts.editedLate, button } };
}

/** Tells whether anything with an effect has run, or may have, since a message was read. */
export async function hasActedOn(
  { store, toolbox }: BotContext,
  threadId: string,
  messages: readonly Message[],
  ts: string,
): Promise<boolean> {
  const since = messages.slice(
    messages.findIndex((message) => message.role === 'user' && message.metadata?.ts === ts) + 1,
  );
  const waiting = new Set<string>();
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome === 'found' && loaded.request.state !== 'pending') return true;
  }
  const ends = new Map<string, string>();
  for (const message of since) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if ('interrupt' in part) waiting.add(part.interrupt.toolRequest.ref);
      else ends.set(part.toolResponse.ref, part.status);
    }
  }
  const calls = since.flatMap((message) =>
    message.role === 'model'
      ? message.content.flatMap((part) => ('toolRequest' in part ? [part.toolRequest] : []))
      : [],
  );
  return calls.some(({ name, ref }) => {
    const tool = toolbox.find(name)?.tool;
    if (tool?.kind === 'interrupt' || (tool?.kind === 'tool' && tool.effect === 'none')) return false;
    const end = ends.get(ref);
    // A call without a result that does not wait is running.
    return end === undefined ? !waiting.has(ref) : end !== 'denied' && end !== 'closed';
  });
}
