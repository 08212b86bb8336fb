import { z } from 'zod';
import type { OutboxItem, OutboxRow, RequestRecord } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { buildCard } from '../cards/build-card.ts';
import type { Card } from '../cards/card.ts';
import { detailsOf } from '../request-details.ts';
import { THREAD_VIEW } from '../requests/view-ids.ts';
import { parseThreadId } from '../thread.ts';
import { findPosted, messageMark } from './find-posted.ts';
import { openDirect } from './send-row.ts';
import { judgeSlackFailure } from './slack-failure.ts';

const Place = z.object({
  channel: z.string().optional(),
  threadTs: z.string().optional(),
  user: z.string().optional(),
});
type Place = z.infer<typeof Place>;
const Standing = z.object({ channel: z.string(), ts: z.string() });
type Standing = z.infer<typeof Standing>;
type ViewItem = OutboxItem & { kind: 'view' };

/** Draws one card as its record is now: posts it where it does not stand yet, updates it where it does. */
export async function drawView(parts: BotParts, item: ViewItem): Promise<void> {
  const { store } = parts;
  const loaded = await store.load(item.requestId);
  const view =
    loaded.outcome === 'found' ? loaded.request.views.find(({ id }) => id === item.viewId) : undefined;
  if (loaded.outcome !== 'found' || view === undefined) {
    await store.doneView(item, 0, {});
    return;
  }
  const { request } = loaded;
  const place = Place.parse(view.place);
  try {
    const card = await cardFor(parts, request, item.viewId, place);
    const standing = Standing.safeParse(view.stands).data;
    const stands =
      standing === undefined
        ? await post(parts, item, place, card)
        : await update(parts, item, place, standing, card, request);
    await store.doneView(item, request.revision, stands ?? {});
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    await giveUp(parts, item, request, failure.reason);
  }
}

async function cardFor(
  { client }: BotParts,
  request: RequestRecord,
  viewId: string,
  place: Place,
): Promise<Card> {
  if (viewId === THREAD_VIEW) return buildCard(request, { view: 'thread' });
  const { channel, threadTs } = parseThreadId(request.threadId);
  // The card in the thread, once it stands: a link to it opens the thread, one to the root only the channel.
  const inThread = Standing.safeParse(request.views.find(({ id }) => id === THREAD_VIEW)?.stands).data;
  const link = await client.chat.getPermalink({ channel, message_ts: inThread?.ts ?? threadTs }).then(
    ({ permalink }) => permalink,
    () => undefined,
  );
  return buildCard(request, {
    view: place.user === undefined ? 'announcement' : 'direct',
    ...(link !== undefined && { threadLink: link }),
  });
}

async function post({ client }: BotParts, item: ViewItem, place: Place, card: Card): Promise<Standing> {
  const channel = place.channel ?? (await openDirect(client, place.user ?? ''));
  const { threadTs } = place;
  const earlier = item.tries > 0 ? await findPosted(client, item.item, { channel, threadTs }) : undefined;
  if (earlier !== undefined) {
    await client.chat.update({ channel, ts: earlier, ...card });
    return { channel, ts: earlier };
  }
  const posted = await client.chat.postMessage({
    channel,
    ...(threadTs !== undefined && { thread_ts: threadTs }),
    ...card,
    metadata: messageMark(item.item),
    unfurl_links: false,
    unfurl_media: false,
  });
  return { channel, ts: posted.ts ?? '' };
}

async function update(
  parts: BotParts,
  item: ViewItem,
  place: Place,
  standing: Standing,
  card: Card,
  request: RequestRecord,
): Promise<Standing | undefined> {
  try {
    await parts.client.chat.update({ ...standing, ...card });
    return standing;
  } catch (error) {
    if (judgeSlackFailure(error).kind !== 'gone') throw error;
    // Somebody deleted the card: one that still waits for people is posted again.
    return request.settledAt === undefined ? post(parts, item, place, card) : standing;
  }
}

/** A card that cannot stand in its thread would leave people waiting for nothing; elsewhere it is only one view less. */
async function giveUp(
  { store, logger }: BotParts,
  item: ViewItem,
  request: RequestRecord,
  reason: string,
): Promise<void> {
  logger.error({ requestId: request.id, view: item.viewId, reason }, 'a card could not be posted');
  if (item.viewId === THREAD_VIEW) {
    const ended = await store.abandon(request.id, `The card could not be posted in Slack (${reason}).`);
    if (ended.outcome === 'abandoned') await store.putOutbox(request.threadId, apologyFor(request, reason));
  }
  await store.doneView(item, request.revision, {});
}

/** The thread cannot be written to, so whoever asked is told in person. */
function apologyFor(request: RequestRecord, reason: string): OutboxRow {
  const { name } = detailsOf(request).interrupt.toolRequest;
  const { channel } = parseThreadId(request.threadId);
  const text = `Nobody could be asked for \`${name}\`, so it did not run: its card could not be posted in <#${channel}> (${reason}).`;
  return { id: `${request.id}/apology`, body: { kind: 'notice', user: request.requester, text } };
}
