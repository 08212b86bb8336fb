import type { KnownBlock } from '@slack/types';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { loadList } from '../../engine/asks/load-lists.ts';
import { quietEnd } from '../../engine/asks/quiet-end.ts';
import { hasPart } from '../../engine/asks/stand-ins.ts';
import { readDetails } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { Summary } from '../../store/port/summaries.ts';
import type { OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { isGroup } from '../slack/directory.ts';
import { findPosted, messageMark } from '../slack/find-posted.ts';
import { limits } from '../slack/limits.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { type Card, heading, line, linkParts, mentions, requesterNames } from '../views/cards/card.ts';
import { placeText, stateOf, titleOf } from '../views/cards/card-details.ts';
import { titleWithView } from '../views/home/build-home.ts';
import { cardTexts } from '../views/texts/cards.ts';
import { moment, words } from '../views/texts/format.ts';
import { summaryTexts } from '../views/texts/home.ts';
import { escapeMarkup, showLabel } from '../views/texts/show-text.ts';
import { personView } from '../views/view-ids.ts';
import { PostedMessage, threadLinkFor } from './posted-message.ts';
import { openDirect } from './send-row.ts';

type SummaryItem = OutboxItem & { kind: 'summary' };
/** The time between two messages where the policy names none: what quiet hours held back. */
const WINDOW_MS = 600_000;

interface ListedRow extends SummaryRow {
  /** The revision of the summary with which it came. */
  readonly since: number;
}

/**
 * Draws the summary of a person from the current record. The posted message is updated in place, which tells nobody; so if something has
 * come since that message, it is posted anew at the end of the window, and nothing waits for longer without a notification.
 */
export async function drawSummary(context: BotContext, item: SummaryItem): Promise<void> {
  const { store } = context;
  const summary = await store.readSummary(item.person);
  const rows = await loadRows(context, summary, item.person);
  const gone = summary.entries
    .filter(({ requestId }) => rows.every(({ request }) => request.id !== requestId))
    .map(({ requestId }) => requestId);
  const posted = PostedMessage.safeParse(summary.place).data;
  const postAt = whenToPost(context, summary, rows);
  const isNew = postAt !== undefined && postAt <= Date.now();
  // Slack may still apply an attempt without an answer, over a later one.
  const redrawMs = item.tries > 0 ? context.timing.redrawMs : 0;
  const done = { revision: summary.revision, gone };
  try {
    const place = isNew
      ? await post(context, item, summary, buildSummary(rows))
      : posted && (await update(context, posted, buildSummary(rows)));
    if (isNew && posted !== undefined) await update(context, posted, buildMoved());
    await store.done(item, {
      ...done,
      number: summary.number + (isNew ? 1 : 0),
      postedAt: place ?? {},
      againMs: isNew || postAt === undefined ? redrawMs : Math.max(1, postAt - Date.now()),
    });
  } catch (error) {
    const { kind, reason } = judgeSlackFailure(error);
    if (kind === 'later') throw error;
    context.logger.error({ person: item.person, reason }, 'summary not posted');
    context.metrics.count('countersign_messages_dropped_total', {});
    await store.done(item, { ...done, number: summary.number, postedAt: {} });
  }
}

/** Loads what waits for the person, in the order in which it came. */
async function loadRows(
  context: BotContext,
  { entries }: Summary,
  person: string,
): Promise<readonly ListedRow[]> {
  const viewId = personView(person);
  const rows = await Promise.all(
    entries.map(async ({ requestId, since }): Promise<ListedRow[]> => {
      const loaded = await context.store.load(requestId);
      if (loaded.outcome !== 'found' || !waitsFor(loaded.request, person)) return [];
      const { request } = loaded;
      const place = request.views.find(({ id }) => id === viewId)?.place;
      const askedFor = typeof place?.for === 'string' ? place.for : undefined;
      const threadLink = await threadLinkFor(context, request, viewId);
      return [{ request, since, askedFor, threadLink, pageLink: context.pageLink(request.id) }];
    }),
  );
  return rows.flat();
}

/** Returns when the list has to be posted as a new message, because something has come that no message told of; not in quiet hours. */
function whenToPost(
  context: BotContext,
  { postedAt, postedRevision, number }: Summary,
  rows: readonly ListedRow[],
): number | undefined {
  const times = rows
    .filter(({ since }) => since > postedRevision)
    .map(({ request }) => {
      const policy = context.toolbox.policy(readDetails(request)?.policy?.name ?? '');
      const next = number === 0 ? 0 : postedAt + (policy?.summary?.withinMs ?? WINDOW_MS);
      return Math.max(next, quietEnd(context, request) ?? 0);
    });
  return times.length === 0 ? undefined : Math.min(...times);
}

async function post(
  { client }: BotContext,
  item: SummaryItem,
  { number }: Summary,
  card: Card,
): Promise<JsonObject> {
  const mark = `${item.item}|${number + 1}`;
  const channel = item.tries > 0 ? await openDirect(client, item.person) : item.person;
  // After a failed attempt the message may have been posted although Slack's answer was lost.
  const earlier =
    item.tries > 0 ? await findPosted(client, mark, { channel, threadTs: undefined }) : undefined;
  if (earlier !== undefined) {
    await client.chat.update({ channel, ts: earlier, ...card });
    return { channel, ts: earlier };
  }
  const posted = await client.chat.postMessage({
    channel,
    ...card,
    metadata: messageMark(mark),
    unfurl_links: false,
    unfurl_media: false,
  });
  return { channel: posted.channel ?? channel, ts: posted.ts ?? '' };
}

/** Updates the posted message; one that was deleted stays so, and what comes next is posted anew. */
async function update(
  context: BotContext,
  { channel, ts }: PostedMessage,
  card: Card,
): Promise<JsonObject | undefined> {
  try {
    context.updates.count();
    await context.client.chat.update({ channel, ts, ...card });
    return { channel, ts };
  } catch (error) {
    if (judgeSlackFailure(error).kind !== 'gone') throw error;
    return undefined;
  }
}

/** A request on a summary, with the links to its card in the thread and to the page. */
interface SummaryRow {
  readonly request: RequestRecord;
  readonly threadLink: string | undefined;
  readonly pageLink: string | undefined;
  /** The approver for whom the person is asked. */
  readonly askedFor: string | undefined;
}

/** Builds the summary of a person: what waits, the oldest first, each with a way to decide it. */
export function buildSummary(rows: readonly SummaryRow[]): Card {
  if (rows.length === 0)
    return {
      text: `${summaryTexts.done}. ${summaryTexts.doneText}`,
      blocks: [heading(summaryTexts.done), line(words(summaryTexts.doneText))],
    };
  const shown = rows.slice(0, limits.summaryRows);
  const rest = rows.length - shown.length;
  const title = summaryTexts.title(rows.length);
  const named = shown.map(({ request }) => titleOf(request)).join('; ');
  return {
    text: escapeMarkup(showLabel(`${title}: ${named}`, limits.fallbackText)),
    blocks: [
      heading(title),
      line(words(summaryTexts.why)),
      ...shown.flatMap(buildRow),
      ...(rest === 0 ? [] : [line(words(summaryTexts.more(rest)))]),
    ],
  };
}

/** Builds the line that an earlier message keeps when a newer one takes its place. */
export function buildMoved(): Card {
  return { text: summaryTexts.moved, blocks: [line(words(summaryTexts.moved))] };
}

function buildRow({ request, threadLink, pageLink, askedFor }: SummaryRow): KnownBlock[] {
  const number = placeText(request);
  return [
    { type: 'divider' },
    titleWithView(request, titleOf(request)),
    line(
      ...(request.state === 'unknown' ? [words(`${stateOf(request).word} · `, { bold: true })] : []),
      words(cardTexts.requestedBy),
      ...requesterNames(request.requesters),
      ...(number === undefined ? [] : [words(` · ${number}`)]),
      ...(askedFor === undefined ? [] : [words(` · ${summaryTexts.askedFor}`), ...mentions([askedFor])]),
      ...(request.state === 'unknown' ? [] : [words(` · ${cardTexts.until}`), moment(request.expiresAt)]),
      ...linkParts({ threadLink, pageLink }),
    ),
  ];
}

/** Stands in place of the posted message for a card that is a line of a person's summary instead. */
const Listed = z.object({ summary: z.string(), waits: z.boolean() });
/** Changes within this time are drawn together. */
const GATHER_MS = 1_000;
/** The newest requests among which those are counted that have no card of their own. */
const NEWEST_COUNTED = 50;

/** Tells whether a request is a line of a summary in this place. */
export function isListed(postedAt: JsonObject | undefined): boolean {
  return Listed.safeParse(postedAt).success;
}

/** Tells whether a request is for a person to decide, or its outcome for them to confirm; any member of a group may be. */
function waitsFor(request: RequestRecord, person: string): boolean {
  const { state, policy } = request;
  if (state === 'unknown') return policy.resolvers.some((id) => id === person || isGroup(id));
  return state === 'pending' && !hasPart(request, person);
}

/**
 * Lists a request in a person's summary instead of a card of its own, if it is in it already, if as many cards as its policy says came
 * before, or if quiet hours held several back; returns what is stored in place of the posted message. High risk has its own card.
 */
export async function joinSummary(
  context: BotContext,
  item: OutboxItem & { kind: 'view' },
  request: RequestRecord,
  person: string,
): Promise<JsonObject | undefined> {
  const { store } = context;
  const waits = waitsFor(request, person);
  const listed = { summary: person, waits };
  const former = Listed.safeParse(request.views.find(({ id }) => id === item.viewId)?.postedAt).data;
  if (former !== undefined) {
    if (waits || former.waits) await store.tell(person, request, GATHER_MS);
    return listed;
  }
  const details = readDetails(request)?.policy;
  const policy = context.toolbox.policy(details?.name ?? '');
  if (policy === undefined || request.state !== 'pending' || details?.risk === 'high') return undefined;
  const wasHeld = quietEnd(context, request, new Date(request.createdAt)) !== undefined;
  if (!wasHeld && policy.summary === undefined) return undefined;
  if (item.tries > 0 && (await wasPosted(context, item, person))) return undefined;
  if (wasHeld && (await countWithoutCard(context, person)) > 1) {
    await store.tell(person, request, GATHER_MS);
    return listed;
  }
  if (policy.summary === undefined) return undefined;
  const told = await store.tell(person, request, GATHER_MS, policy.summary);
  return told.outcome === 'listed' ? listed : undefined;
}

/** Looks for a card that was posted although Slack's answer was lost. */
async function wasPosted({ client }: BotContext, item: OutboxItem, person: string): Promise<boolean> {
  const channel = await openDirect(client, person);
  return (await findPosted(client, item.item, { channel, threadTs: undefined })) !== undefined;
}

/** Counts what waits for a person, may be told now, and has no card in their direct messages yet. */
async function countWithoutCard(context: BotContext, person: string): Promise<number> {
  const directory = context.directory.relaxed();
  const { requests } = await loadList({ ...context, directory }, person, 'waiting', {
    limit: NEWEST_COUNTED,
  });
  return requests.filter((request) => {
    const view = request.views.find(({ id }) => id === personView(person));
    const hasCard = view?.postedAt !== undefined && !isListed(view.postedAt);
    return view !== undefined && !hasCard && quietEnd(context, request) === undefined;
  }).length;
}
