import { z } from 'zod';
import { inSpan } from '../../observe/tracing.ts';
import type { OutboxItem, OutboxRow, RequestRecord } from '../../store/port/store.ts';
import { buildCard } from '../cards/build-card.ts';
import type { Card } from '../cards/card.ts';
import type { BotContext } from '../context.ts';
import { detailsOf } from '../requests/request-details.ts';
import { THREAD_VIEW } from '../requests/view-ids.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { parseThreadId } from '../slack/thread.ts';
import { findPosted, messageMark } from './find-posted.ts';
import { openDirect } from './send-row.ts';

const Place = z.object({
  channel: z.string().optional(),
  threadTs: z.string().optional(),
  user: z.string().optional(),
});
type Place = z.infer<typeof Place>;
const PostedMessage = z.object({ channel: z.string(), ts: z.string() });
type PostedMessage = z.infer<typeof PostedMessage>;
type ViewItem = OutboxItem & { kind: 'view' };

/** Draws one card from the current record: posts it, or updates the posted message. */
export async function drawView(context: BotContext, item: ViewItem): Promise<void> {
  const { store } = context;
  const loaded = await store.load(item.requestId);
  const view =
    loaded.outcome === 'found' ? loaded.request.views.find(({ id }) => id === item.viewId) : undefined;
  if (loaded.outcome !== 'found' || view === undefined) {
    await store.doneView(item, 0, {});
    return;
  }
  const { request } = loaded;
  const attributes = { 'countersign.request.id': request.id };
  await inSpan('send card', { parent: request.trace, kind: 'producer', attributes }, () =>
    drawRequest(context, item, request, view),
  );
}

async function drawRequest(
  context: BotContext,
  item: ViewItem,
  request: RequestRecord,
  view: RequestRecord['views'][number],
): Promise<void> {
  const { store } = context;
  const place = Place.parse(view.place);
  try {
    const card = await cardFor(context, request, item.viewId, place);
    const posted = PostedMessage.safeParse(view.postedAt).data;
    const postedAt =
      posted === undefined
        ? await post(context, item, place, card)
        : await update(context, item, place, posted, card, request);
    await store.doneView(item, request.revision, postedAt ?? {});
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    await giveUp(context, item, request, failure.reason);
  }
}

async function cardFor(
  { client }: BotContext,
  request: RequestRecord,
  viewId: string,
  place: Place,
): Promise<Card> {
  if (viewId === THREAD_VIEW) return buildCard(request, { view: 'thread' });
  const { channel, threadTs } = parseThreadId(request.threadId);
  // A link to the card opens the thread; a link to the thread's root opens only the channel.
  const inThread = PostedMessage.safeParse(request.views.find(({ id }) => id === THREAD_VIEW)?.postedAt).data;
  const link = await client.chat.getPermalink({ channel, message_ts: inThread?.ts ?? threadTs }).then(
    ({ permalink }) => permalink,
    () => undefined,
  );
  return buildCard(request, {
    view: place.user === undefined ? 'announcement' : 'direct',
    ...(link !== undefined && { threadLink: link }),
  });
}

async function post(
  { client }: BotContext,
  item: ViewItem,
  place: Place,
  card: Card,
): Promise<PostedMessage> {
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
  context: BotContext,
  item: ViewItem,
  place: Place,
  posted: PostedMessage,
  card: Card,
  request: RequestRecord,
): Promise<PostedMessage | undefined> {
  try {
    await context.client.chat.update({ ...posted, ...card });
    return posted;
  } catch (error) {
    if (judgeSlackFailure(error).kind !== 'gone') throw error;
    // The card was deleted: one that still waits for people is posted again.
    return request.settledAt === undefined ? post(context, item, place, card) : posted;
  }
}

/** Gives a card up. Without the card in its thread nobody could decide, so the request is abandoned; elsewhere it is one view less. */
async function giveUp(
  { store, metrics, logger }: BotContext,
  item: ViewItem,
  request: RequestRecord,
  reason: string,
): Promise<void> {
  logger.error({ requestId: request.id, view: item.viewId, reason }, 'card not posted');
  metrics.count('countersign_messages_dropped_total', {});
  if (item.viewId === THREAD_VIEW) {
    const ended = await store.abandon(request.id, `The card could not be posted in Slack (${reason}).`);
    if (ended.outcome === 'abandoned')
      await store.enqueueOutbox(request.threadId, apologyFor(request, reason));
  }
  await store.doneView(item, request.revision, {});
}

/** Tells the requester directly, because the thread cannot be written to. */
function apologyFor(request: RequestRecord, reason: string): OutboxRow {
  const { name } = detailsOf(request).interrupt.toolRequest;
  const { channel } = parseThreadId(request.threadId);
  const text = `Nobody could be asked for \`${name}\`, so it did not run: its card could not be posted in <#${channel}> (${reason}).`;
  return { id: `${request.id}/apology`, body: { kind: 'notice', user: request.requester, text } };
}
