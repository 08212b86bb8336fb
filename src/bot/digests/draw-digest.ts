import type { JsonObject } from '../../agent/json.ts';
import type { Digest, OutboxItem } from '../../store/port/store.ts';
import type { Card } from '../cards/card.ts';
import type { BotContext } from '../context.ts';
import { findPosted, messageMark } from '../delivery/find-posted.ts';
import { PostedMessage, threadLinkFor } from '../delivery/posted-message.ts';
import { openDirect } from '../delivery/send-row.ts';
import { quietEnd } from '../requests/quiet-end.ts';
import { readDetails } from '../requests/request-details.ts';
import { personView } from '../requests/view-ids.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { buildDigest, buildMoved, type DigestRow } from './build-digest.ts';
import { waitsFor } from './join-digest.ts';

type DigestItem = OutboxItem & { kind: 'digest' };
/** The time between two messages where the policy names none: what quiet hours held back. */
const WINDOW_MS = 600_000;

interface ListedRow extends DigestRow {
  /** The revision of the digest with which it came. */
  readonly since: number;
}

/**
 * Draws the digest of a person from the current record. The posted message is updated in place, which tells nobody; so if something has
 * come since that message, it is posted anew at the end of the window, and nothing waits for longer without a notification.
 */
export async function drawDigest(context: BotContext, item: DigestItem): Promise<void> {
  const { store } = context;
  const digest = await store.readDigest(item.person);
  const rows = await loadRows(context, digest, item.person);
  const gone = digest.entries
    .filter(({ requestId }) => rows.every(({ request }) => request.id !== requestId))
    .map(({ requestId }) => requestId);
  const posted = PostedMessage.safeParse(digest.place).data;
  const postAt = whenToPost(context, digest, rows);
  const isNew = postAt !== undefined && postAt <= Date.now();
  // Slack may still apply an attempt without an answer, over a later one.
  const redrawMs = item.tries > 0 ? context.timing.redrawMs : 0;
  const done = { revision: digest.revision, gone };
  try {
    const place = isNew
      ? await post(context, item, digest, buildDigest(rows))
      : posted && (await update(context, posted, buildDigest(rows)));
    if (isNew && posted !== undefined) await update(context, posted, buildMoved());
    await store.doneDigest(item, {
      ...done,
      number: digest.number + (isNew ? 1 : 0),
      place: place ?? {},
      againMs: isNew || postAt === undefined ? redrawMs : Math.max(1, postAt - Date.now()),
    });
  } catch (error) {
    const { kind, reason } = judgeSlackFailure(error);
    if (kind === 'later') throw error;
    context.logger.error({ person: item.person, reason }, 'digest not posted');
    context.metrics.count('countersign_messages_dropped_total', {});
    await store.doneDigest(item, { ...done, number: digest.number, place: {}, againMs: 0 });
  }
}

/** Loads what waits for the person, in the order in which it came. */
async function loadRows(
  context: BotContext,
  { entries }: Digest,
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
      return [{ request, since, askedFor, link: await threadLinkFor(context, request, viewId) }];
    }),
  );
  return rows.flat();
}

/** Returns when the list has to be posted as a new message, because something has come that no message told of; not in quiet hours. */
function whenToPost(
  context: BotContext,
  { postedAt, postedRevision, number }: Digest,
  rows: readonly ListedRow[],
): number | undefined {
  const times = rows
    .filter(({ since }) => since > postedRevision)
    .map(({ request }) => {
      const policy = context.toolbox.policy(readDetails(request)?.policy?.name ?? '');
      const next = number === 0 ? 0 : postedAt + (policy?.digest?.withinMs ?? WINDOW_MS);
      return Math.max(next, quietEnd(context, request) ?? 0);
    });
  return times.length === 0 ? undefined : Math.min(...times);
}

async function post(
  { client }: BotContext,
  item: DigestItem,
  { number }: Digest,
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
