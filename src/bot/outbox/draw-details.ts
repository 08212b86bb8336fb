import { hash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { buildDetailsModal } from '../views/modals/details-modal.ts';
import type { Modal } from '../views/modals/modal.ts';

type View = RequestRecord['views'][number];

/** An open Details modal: Slack's hash of what it shows, ours, and its page. */
const OpenDetails = z.object({
  modal: z.string(),
  page: z.number(),
  /** Empty if Slack has not told it. */
  hash: z.string(),
  drawn: z.string(),
});

/** The open modals of one request that are kept up to date. */
const MOST_OPEN = 20;

/** Makes an open Details modal one of the places of its request, so that it is drawn again when the request changes. */
export async function followDetails(
  { store, logger }: Pick<BotContext, 'store' | 'logger'>,
  { id, views, settledAt }: RequestRecord,
  opened: { readonly id?: string | undefined; readonly hash?: string | undefined } | undefined,
  shown: { readonly modal: Modal; readonly page: number },
): Promise<void> {
  const isFull = views.filter(({ place }) => isDetails(place)).length >= MOST_OPEN;
  if (opened?.id === undefined || settledAt !== undefined || isFull) return;
  const { id: modal, hash: shownHash = '' } = opened;
  const place = { modal, page: shown.page, hash: shownHash, drawn: drawnHash(shown.modal) };
  await store
    .redraw(id, { views: [{ id: `details-${modal}-${shownHash}`, place }] })
    .catch((err: unknown) => logger.debug({ requestId: id, err }, 'Details not followed'));
}

export function isDetails(place: View['place']): boolean {
  return OpenDetails.safeParse(place).success;
}

/** Draws an open Details modal from the current record. One that was closed, or has changed since, is left alone. */
export async function drawDetails(
  { client, store, pageLink }: BotContext,
  item: OutboxItem & { kind: 'view' },
  request: RequestRecord,
  view: View,
): Promise<void> {
  const { data: last } = OpenDetails.safeParse(view.postedAt ?? view.place);
  let postedAt: JsonObject = last ?? view.postedAt ?? {};
  if (last !== undefined) {
    const modal = buildDetailsModal(request, { page: last.page, link: pageLink(request.id) });
    const drawn = drawnHash(modal);
    try {
      if (drawn !== last.drawn) {
        const { view: updated } = await client.views.update({
          view_id: last.modal,
          view: modal,
          ...(last.hash !== '' && { hash: last.hash }),
        });
        postedAt = { ...last, drawn, hash: updated?.hash ?? '' };
      }
    } catch (error) {
      const { kind, reason } = judgeSlackFailure(error);
      if (kind === 'later') throw error;
      // It was closed, or shows something else by now.
      postedAt = { closed: reason };
    }
  }
  await store.done(item, { revision: request.revision, postedAt });
}

function drawnHash(modal: Modal): string {
  return hash('sha256', JSON.stringify(modal), 'base64url').slice(0, 12);
}
