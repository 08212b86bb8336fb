import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { notVoted } from '../../engine/asks/stand-ins.ts';
import { threadOf } from '../../store/port/keys.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { OutboxItem, OutboxRow } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { findPosted, messageMark } from '../slack/find-posted.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { placeIn } from '../slack/thread.ts';
import { titleOf } from '../views/cards/card-details.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { titledContent } from './send-row.ts';

/** A row that makes a reminder due. */
export const REMINDER = 'reminder';
const ReminderRow = z.object({ requestId: z.string(), occasion: z.string() });
/** The view of a request that is its reminder. */
const REMINDER_VIEW = 'reminder';
const CAUSE = 'remind ';
const Posted = z.object({
  reminder: z.object({
    channel: z.string(),
    ts: z.string(),
    occasion: z.string(),
    people: z.string(),
  }),
});
type Posted = z.infer<typeof Posted>['reminder'];
type View = RequestRecord['views'][number];

export function reminderRow({ id }: RequestRecord, at = Date.now()): OutboxRow {
  return {
    id: `${id}/remind/${at}`,
    body: { kind: REMINDER, requestId: id, occasion: `${CAUSE}${at}` },
  };
}

/** Makes the reminder of a request due. It is one of its views, so that there is one, it names who is missing, and it goes with the request's end. */
export async function sendReminder(
  { store }: Pick<BotContext, 'store'>,
  item: OutboxItem & { kind: 'row' },
): Promise<void> {
  const { requestId, occasion: cause } = ReminderRow.parse(item.body);
  const place = { reminder: true, ...placeIn(threadOf(requestId) ?? '') };
  await store.redraw(requestId, { cause, views: [{ id: REMINDER_VIEW, place }] });
  await store.done(item);
}

export function isReminder({ id, place }: View): boolean {
  return id === REMINDER_VIEW && place.reminder === true;
}

/** Draws the reminder of a request: a new message on each occasion, since only that notifies people, in place of the one before. */
export async function drawReminder(
  context: BotContext,
  item: OutboxItem & { kind: 'view' },
  request: RequestRecord,
  view: View,
): Promise<void> {
  const { store, logger } = context;
  const posted = Posted.safeParse(view.postedAt).data?.reminder;
  let postedAt: JsonObject = {};
  try {
    const now = request.state === 'pending' ? await remind(context, item, request, posted) : undefined;
    if (posted !== undefined && posted.ts !== now?.ts) await remove(context, posted);
    postedAt = now === undefined ? {} : { reminder: { ...now } };
  } catch (error) {
    const { kind, reason } = judgeSlackFailure(error);
    if (kind === 'later') throw error;
    logger.error({ requestId: request.id, reason }, 'reminder not posted');
  }
  await store.done(item, { revision: request.revision, postedAt });
}

async function remind(
  context: BotContext,
  item: OutboxItem,
  request: RequestRecord,
  posted: Posted | undefined,
): Promise<Posted | undefined> {
  const { client, updates } = context;
  const { redrawnFor = '' } = request;
  const occasion = redrawnFor.startsWith(CAUSE) ? redrawnFor : (posted?.occasion ?? '');
  if (occasion === '') return undefined;
  const missing = await notVoted(context, request);
  const people = missing.join(' ');
  const { lead, tail } = noticeTexts.reminder;
  const content = titledContent(
    { request: request.id, text: lead, title: titleOf(request), tail, people: missing },
    context.pageLink,
  );
  if (posted?.occasion === occasion) {
    if (posted.people === people) return posted;
    updates.count();
    await client.chat.update({ channel: posted.channel, ts: posted.ts, ...content });
    return { ...posted, people };
  }
  const { channel, threadTs } = placeIn(request.threadId);
  const mark = `${item.item}|${occasion}`;
  const earlier = item.tries > 0 ? await findPosted(client, mark, { channel, threadTs }) : undefined;
  if (earlier !== undefined) return { channel, ts: earlier, occasion, people };
  const { ts = '' } = await client.chat.postMessage({
    channel,
    ...(threadTs !== undefined && { thread_ts: threadTs }),
    ...content,
    metadata: messageMark(mark),
    unfurl_links: false,
    unfurl_media: false,
  });
  return { channel, ts, occasion, people };
}

/** Removes a reminder; one that is gone needs nothing more. */
async function remove({ client }: Pick<BotContext, 'client'>, { channel, ts }: Posted): Promise<void> {
  try {
    await client.chat.delete({ channel, ts });
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
  }
}
