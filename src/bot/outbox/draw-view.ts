import { hash } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { quietEnd } from '../../engine/asks/quiet-end.ts';
import { readDetails } from '../../engine/request-details.ts';
import { inSpan } from '../../observe/tracing.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { OutboxItem, OutboxRow } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { findPosted, messageMark } from '../slack/find-posted.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { parseThreadId } from '../slack/thread.ts';
import { type Card, withoutTables } from '../views/cards/card.ts';
import { titleOf } from '../views/cards/card-details.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { THREAD_VIEW } from '../views/view-ids.ts';
import { followWords } from './caller-words.ts';
import { cardFor, Place, shownFor } from './card-in-place.ts';
import { drawDetails, isDetails } from './draw-details.ts';
import { keepUndo } from './keep-undo.ts';
import { decisionsIn, PostedMessage, threadLinkFor } from './posted-message.ts';
import { drawReminder, isReminder } from './reminders.ts';
import { openDirect } from './send-row.ts';
import { isListed, joinSummary } from './summaries.ts';

type ViewItem = OutboxItem & { kind: 'view' };
type View = RequestRecord['views'][number];
/** Stands in place of the posted message for a view that Slack refuses. */
const Undeliverable = z.object({ undeliverable: z.string() });

/** Draws one card from the current record: posts it, or updates the posted message. */
export async function drawView(context: BotContext, item: ViewItem): Promise<void> {
  const { store } = context;
  const loaded = await store.load(item.requestId);
  const view =
    loaded.outcome === 'found' ? loaded.request.views.find(({ id }) => id === item.viewId) : undefined;
  if (loaded.outcome !== 'found' || view === undefined) {
    await store.done(item, { revision: 0, postedAt: {} });
    return;
  }
  const { request } = loaded;
  if (isDetails(view.place)) return drawDetails(context, item, request, view);
  if (isReminder(view)) return drawReminder(context, item, request, view);
  // After a failed attempt the card may have been posted although Slack's answer was lost.
  if (!isWanted(request, view) && (item.tries === 0 || isUndeliverable(view))) {
    await store.done(item, { revision: request.revision, postedAt: view.postedAt ?? {} });
    return;
  }
  const attributes = { 'countersign.request.id': request.id };
  await inSpan('send card', { parent: request.trace, kind: 'producer', attributes }, () =>
    drawRequest(context, item, request, view),
  );
}

/** Builds the card from the record and from what facets show now, and posts it or updates the posted one. */
async function drawRequest(
  context: BotContext,
  item: ViewItem,
  request: RequestRecord,
  view: View,
): Promise<void> {
  const { store } = context;
  const place = Place.parse(view.place);
  const posted = PostedMessage.safeParse(view.postedAt).data;
  try {
    if (posted === undefined && (await isPutOff(context, item, request, place))) return;
    const threadLink = await threadLinkFor(context, request, item.viewId);
    const shown = await shownFor(context, request, item.viewId, place);
    const card = cardFor(request, item.viewId, place, {
      threadLink,
      pageLink: context.pageLink(request.id),
      shown,
      hasButtons: item.viewId !== THREAD_VIEW || hasThreadButtons(context, request),
    });
    // After a failed try Slack may still apply an older card, so what stands there is not known.
    const drawn = item.tries > 0 ? undefined : hashOf(card);
    // Slack takes few updates a minute, and a click waits behind those that change nothing.
    const isUnchanged = drawn !== undefined && posted?.drawn === drawn;
    const decisions = decisionsIn(request);
    const isRoutine = posted !== undefined && posted.shown === decisions && item.tries === 0;
    // An item of its own comes later, so that a decision in the meantime is drawn at once.
    const later = (againMs: number) =>
      store.done(item, { revision: request.revision, postedAt: view.postedAt ?? {}, againMs });
    if (isRoutine && !isUnchanged && !(await context.updates.takeRoutine())) {
      await later(Math.max(ROUTINE_AGAIN_MS, context.updates.refusedMs()));
      return;
    }
    const postedAt =
      posted === undefined
        ? await post(context, item, place, card, isWanted(request, view))
        : isUnchanged
          ? posted
          : await update(context, item, place, posted, card, { request, isRoutine });
    if (postedAt === 'refused') {
      await later(context.updates.refusedMs());
      return;
    }
    if (item.viewId === THREAD_VIEW) {
      await keepUndo(context, request, postedAt);
      if (posted === undefined && postedAt !== undefined) await followWords(context, request, postedAt);
    }
    const reviewedMs = shown.review === undefined ? 0 : shown.review.until - Date.now() + 1;
    await store.done(item, {
      revision: request.revision,
      postedAt: storedPlace(request, postedAt, { threadLink, drawn, shown: decisions }),
      againMs: item.tries > 0 ? context.timing.redrawMs : Math.max(0, reviewedMs),
    });
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    await giveUp(context, item, request, failure.reason);
  }
}

/** Puts a new card off, for quiet hours or for the card before it, or lists it in the summary of its person. */
async function isPutOff(
  context: BotContext,
  item: ViewItem,
  request: RequestRecord,
  { user }: Place,
): Promise<boolean> {
  const { store } = context;
  const quiet = user === undefined ? undefined : quietEnd(context, request);
  if (quiet !== undefined) await store.retryOutbox(item, quiet - Date.now(), { isUnsent: true });
  else if (await comesTooEarly(context, item, request))
    await store.retryOutbox(item, ORDER_CHECK_MS, { isUnsent: true });
  else {
    const listed = user === undefined ? undefined : await joinSummary(context, item, request, user);
    if (listed === undefined) return false;
    await store.done(item, { revision: request.revision, postedAt: listed });
  }
  return true;
}

/** Tells whether people decide in the thread: not where approvers have their own cards, if the manifest wants that. */
function hasThreadButtons({ agent }: Pick<BotContext, 'agent'>, { views }: RequestRecord): boolean {
  if (agent().cardButtons === 'thread') return true;
  return !views.some(
    (view) => Place.safeParse(view.place).data?.user !== undefined && !isUndeliverable(view),
  );
}

/** A card that shows no decision is drawn so much later if few updates are left. */
const ROUTINE_AGAIN_MS = 10_000;

/** A card waits for the one before it no longer than this, and looks so often. */
const ORDER_WAIT_MS = 60_000;
const ORDER_CHECK_MS = 300;

/** Tells whether the card of the call before is to be posted first, in the same place: Slack may have refused it for a moment. */
async function comesTooEarly(context: BotContext, item: ViewItem, request: RequestRecord): Promise<boolean> {
  const after = readDetails(request)?.place?.after;
  if (after === undefined || Date.now() > request.createdAt + ORDER_WAIT_MS) return false;
  const loaded = await context.store.load(after);
  if (loaded.outcome !== 'found') return false;
  const view = loaded.request.views.find(({ id }) => id === item.viewId);
  if (view === undefined || view.postedAt !== undefined || !isWanted(loaded.request, view)) return false;
  return view.place.user === undefined || quietEnd(context, loaded.request) === undefined;
}

/** Tells whether a card is to be drawn: not where Slack refuses it, and not for the first time for people who are not asked any more. */
function isWanted({ state }: RequestRecord, view: View): boolean {
  if (isUndeliverable(view)) return false;
  const isPosted = PostedMessage.safeParse(view.postedAt).success || isListed(view.postedAt);
  return isPosted || view.id === THREAD_VIEW || state === 'pending' || state === 'unknown';
}

function isUndeliverable({ postedAt }: View): boolean {
  return Undeliverable.safeParse(postedAt).success;
}

/** Builds what is stored of a posted card; a link is kept once it leads to the card in the thread. */
function storedPlace(
  { views }: RequestRecord,
  posted: PostedMessage | undefined,
  { threadLink, drawn, shown }: Pick<PostedMessage, 'threadLink' | 'drawn' | 'shown'>,
): JsonObject {
  if (posted === undefined) return {};
  const { channel, ts } = posted;
  const isFinal = PostedMessage.safeParse(views.find(({ id }) => id === THREAD_VIEW)?.postedAt).success;
  return {
    channel,
    ts,
    ...(drawn !== undefined && { drawn }),
    ...(shown !== undefined && { shown }),
    ...(isFinal && threadLink !== undefined && { threadLink }),
  };
}

function hashOf(card: Card): string {
  return hash('sha256', JSON.stringify(card), 'base64url').slice(0, 12);
}

async function post(
  { client }: BotContext,
  item: ViewItem,
  place: Place,
  card: Card,
  isNew = true,
): Promise<PostedMessage | undefined> {
  const { threadTs } = place;
  // Slack takes a person's id as their direct message; only a message that may be there already has to be sought in its channel.
  const channel =
    place.channel ?? (item.tries > 0 ? await openDirect(client, place.user ?? '') : (place.user ?? ''));
  const earlier = item.tries > 0 ? await findPosted(client, item.item, { channel, threadTs }) : undefined;
  if (earlier !== undefined) {
    await withTables(card, (shown) => client.chat.update({ channel, ts: earlier, ...shown }));
    return { channel, ts: earlier };
  }
  if (!isNew) return undefined;
  const posted = await withTables(card, (shown) =>
    client.chat.postMessage({
      channel,
      ...(threadTs !== undefined && { thread_ts: threadTs }),
      ...shown,
      metadata: messageMark(item.item),
      unfurl_links: false,
      unfurl_media: false,
    }),
  );
  return { channel: posted.channel ?? channel, ts: posted.ts ?? '' };
}

async function update(
  context: BotContext,
  item: ViewItem,
  place: Place,
  posted: PostedMessage,
  card: Card,
  { request, isRoutine }: { readonly request: RequestRecord; readonly isRoutine: boolean },
): Promise<PostedMessage | undefined | 'refused'> {
  const { client, updates } = context;
  const { channel, ts } = posted;
  try {
    if (updates.refusedMs() > 0) return (await replace(context, posted, card)) ? posted : 'refused';
    if (!isRoutine) updates.count();
    await withTables(card, (shown) => client.chat.update({ channel, ts, ...shown }));
    return posted;
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later' && failure.isUntaken === true) {
      updates.refused(failure.afterMs ?? 1_000);
      return (await replace(context, posted, card)) ? posted : 'refused';
    }
    if (failure.kind !== 'gone') throw error;
    // The card was deleted: one that still waits for people is posted again.
    return request.settledAt === undefined ? post(context, item, place, card) : posted;
  }
}

/** Sends a card; where a workspace refuses its blocks, once more with its tables as text. */
async function withTables<Sent>(card: Card, send: (card: Card) => Promise<Sent>): Promise<Sent> {
  try {
    return await send(card);
  } catch (error) {
    const simple = withoutTables(card);
    if (simple === undefined || judgeSlackFailure(error).reason !== 'invalid_blocks') throw error;
    return send(simple);
  }
}

/** Replaces a card as the response to a click on it, if it was clicked here a short time ago. */
async function replace({ updates, logger }: BotContext, posted: PostedMessage, card: Card): Promise<boolean> {
  const respond = updates.replacing(posted);
  if (respond === undefined) return false;
  try {
    await respond({ replace_original: true, ...card });
    return true;
  } catch (err) {
    logger.debug({ err }, 'card not replaced by a response');
    return false;
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
    const why = `The card could not be posted in Slack (${reason}).`;
    const { outcome } = await store.end(request.id, { state: 'failed', reason: why });
    if (outcome === 'ended') await store.enqueueOutbox(request.threadId, apologyFor(request, reason));
  }
  await store.done(item, { revision: request.revision, postedAt: { undeliverable: reason } });
}

/** Tells the requester directly, because the thread cannot be written to. */
function apologyFor(request: RequestRecord, reason: string): OutboxRow {
  const { channel } = parseThreadId(request.threadId);
  const { lead, in: inside, tail } = noticeTexts.cardNotPosted;
  // A direct message has no name.
  const behind = /^[CG]/.test(channel)
    ? { tail: `${lead}${inside}`, place: { channel, tail: tail(reason) } }
    : { tail: `${lead}${tail(reason)}` };
  return {
    id: `${request.id}/apology`,
    body: {
      kind: 'titled',
      request: request.id,
      user: request.requester,
      text: '',
      title: titleOf(request),
      ...behind,
    },
  };
}
