import { z } from 'zod';
import type { Message } from '../../agent/messages.ts';
import { readDetails } from '../../engine/request-details.ts';
import type { ClaimedTurn, OutboxItem, OutboxRow, RequestRecord } from '../../store/port/store.ts';
import { endedUndos } from '../asks/undo-call.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';
import type { CardOptions } from '../views/cards/card.ts';
import { undoOfferMs } from '../views/cards/outcome.ts';

/**
 * Follows a card that was drawn in its thread: one that offers Undo gets the timer that ends the offer, and one that undoes an action is
 * linked from the card of that action. It runs before the drawing is done, so that it is made up for after a crash.
 */
export async function keepUndo(
  { store, links }: Pick<BotContext, 'store' | 'links'>,
  request: RequestRecord,
  posted: { readonly channel: string; readonly ts: string } | undefined,
): Promise<void> {
  const offeredMs = request.undo === undefined ? undoOfferMs(request) : undefined;
  if (offeredMs !== undefined) await store.noteUndo(request.id, 'offered', {}, offeredMs);
  const undoes = readDetails(request)?.undoes;
  if (undoes === undefined || posted === undefined || request.state !== 'pending') return;
  const { threadTs } = parseThreadId(request.threadId);
  const link = await links.linkTo({ ...posted, threadTs });
  await store.noteUndo(undoes.requestId, 'linked', { by: request.requester, link });
}

/** Finds the steps of a plan that can be undone, and starts the time in which each can; the card of the plan offers it. */
export async function undoOfSteps(
  { store }: Pick<BotContext, 'store'>,
  { steps = [] }: RequestRecord,
): Promise<CardOptions['undo']> {
  const done = steps.filter(({ state }) => state === 'succeeded');
  if (done.length === 0) return undefined;
  const loaded = await Promise.all(done.map(({ id }) => store.load(id)));
  const requests = loaded.flatMap((each) => (each.outcome === 'found' ? [each.request] : []));
  const offered: string[] = [];
  for (const request of requests) {
    const offeredMs = undoOfferMs(request);
    if (offeredMs === undefined) continue;
    offered.push(request.id);
    if (request.undo === undefined) await store.noteUndo(request.id, 'offered', {}, offeredMs);
  }
  return { offered, undone: requests.filter(({ undo }) => undo?.isDone === true).map(({ id }) => id) };
}

/** The kind of an outbox row that tells of the end of an undo. */
export const UNDO_ENDED = 'undo-ended';
const UndoEnded = z.object({
  kind: z.literal(UNDO_ENDED),
  requestId: z.string(),
  by: z.string(),
  isDone: z.boolean(),
  at: z.number(),
});

/** Builds a row for each undo whose call has its result by the end of a turn, so that the card of the action tells it. */
export function endedUndoRows(
  { threadId, messages: before }: Pick<ClaimedTurn, 'threadId' | 'messages'>,
  messages: readonly Message[],
): OutboxRow[] {
  return endedUndos(before, messages).map(({ requestId, by, isDone }) => ({
    id: `${threadId}/undo-ended/${requestId}`,
    body: { kind: UNDO_ENDED, requestId, by, isDone, at: Date.now() },
  }));
}

/** Records the end of an undo. */
export async function recordEndedUndo(
  { store }: Pick<BotContext, 'store'>,
  item: OutboxItem & { kind: 'row' },
): Promise<void> {
  const { requestId, by, isDone, at } = UndoEnded.parse(item.body);
  await store.noteUndo(requestId, 'ended', { by, isDone, at });
  await store.done(item);
}
