import { z } from 'zod';
import { readDetails } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';
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
  const undoes = readDetails(request)?.facets.undoes;
  if (undoes === undefined || posted === undefined || request.state !== 'pending') return;
  const { threadTs } = parseThreadId(request.threadId);
  const link = await links.linkTo({ ...posted, threadTs });
  await store.noteUndo(undoes.requestId, 'linked', { by: request.requester, link });
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

/** Records the end of an undo. */
export async function recordEndedUndo(
  { store }: Pick<BotContext, 'store'>,
  item: OutboxItem & { kind: 'row' },
): Promise<void> {
  const { requestId, by, isDone, at } = UndoEnded.parse(item.body);
  await store.noteUndo(requestId, 'ended', { by, isDone, at });
  await store.done(item);
}
