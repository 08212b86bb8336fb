import { inSpan } from '../../observe/tracing.ts';
import { threadOf } from '../../store/port/keys.ts';
import type { OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { THREAD_VIEW } from '../views/view-ids.ts';
import { drawView } from './draw-view.ts';
import { type Sender, sendRow } from './send-row.ts';
import { drawSummary } from './summaries.ts';

/** Few enough to be sent within the claim, even by a slow Slack; otherwise another sender would send them as well. */
const BATCH = 5;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** The last delivery of each lane in this process. What is for one thread or person is one lane: it is sent in order. */
export type Lanes = Map<string, Promise<void>>;

interface Delivery extends BotContext {
  /** Senders of rows that stand for work that a process began when it received something, by kind. */
  readonly senders: ReadonlyMap<unknown, Sender>;
  /** Publishes a Home that shows something that has changed. */
  readonly publishHome: (item: OutboxItem & { kind: 'home' }) => Promise<void>;
}

/** Sends the due items of the outbox until none is left: those of a lane one after another, lanes beside each other. */
export async function deliver(context: Delivery, lanes: Lanes): Promise<void> {
  for (;;) {
    const items = await context.store.claimOutbox({ leaseMs: context.timing.claimMs, limit: BATCH });
    await Promise.all(
      [...groupBy(items, laneOf)].map(([lane, own]) => queueIn(lanes, lane, () => deliverLane(context, own))),
    );
    if (items.length < BATCH) return;
  }
}

function groupBy(
  items: readonly OutboxItem[],
  nameOf: (item: OutboxItem) => string,
): ReadonlyMap<string, readonly OutboxItem[]> {
  const groups = new Map<string, OutboxItem[]>();
  for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item]);
  return groups;
}

function queueIn(lanes: Lanes, lane: string, work: () => Promise<void>): Promise<void> {
  const last = (lanes.get(lane) ?? Promise.resolve()).catch(() => {}).then(work);
  const done = last.finally(() => {
    if (lanes.get(lane) === done) lanes.delete(lane);
  });
  lanes.set(lane, done);
  return done;
}

function laneOf(item: OutboxItem): string {
  if (item.kind === 'view') return threadOf(item.requestId) ?? '';
  if (item.kind === 'summary') return item.person;
  if (item.kind === 'home') return item.item;
  const { channel, threadTs = '', user = item.item } = item.body;
  return channel === undefined ? `${user}` : `${channel}:${threadTs}`;
}

/** Keeps the messages of a thread in their order. Copies of a card follow it, because they link to it. */
async function deliverLane(context: Delivery, items: readonly OutboxItem[]): Promise<void> {
  for (const item of items) if (item.kind !== 'view' || isInThread(item)) await deliverItem(context, item);
  const [first, ...copies] = items.filter((item) => item.kind === 'view' && !isInThread(item));
  if (first !== undefined) await deliverItem(context, first);
  const places = groupBy(copies, (item) => (item.kind === 'view' ? item.viewId : ''));
  await Promise.all(
    [...places.values()].map(async (own) => {
      for (const item of own) await deliverItem(context, item);
    }),
  );
}

async function deliverItem(context: Delivery, item: OutboxItem): Promise<void> {
  try {
    if (item.kind === 'row') await sendInSpan(context, item);
    else if (item.kind === 'view') await drawView(context, item);
    else if (item.kind === 'summary') await drawSummary(context, item);
    else await context.publishHome(item);
  } catch (err) {
    const failure = judgeSlackFailure(err);
    const delayMs = (failure.kind === 'later' && failure.afterMs) || backOff(item.tries);
    context.logger.warn(
      { item: item.item, tries: item.tries, reason: failure.reason, delayMs },
      'delivery failed, will retry',
    );
    // A card is drawn by one call of Slack, the last one that can fail; a row may be sent by several.
    const isUnsent = item.kind === 'view' && failure.kind === 'later' && failure.isUntaken === true;
    await context.store.retryOutbox(item, delayMs, { isUnsent });
  }
}

function sendInSpan(context: Delivery, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const { trace, kind } = item.body;
  const parent = typeof trace === 'string' ? trace : undefined;
  return inSpan(`send ${kind}`, { parent, kind: 'producer' }, () => sendRow(context, item, context.senders));
}

function isInThread(item: OutboxItem): boolean {
  return item.kind === 'view' && item.viewId === THREAD_VIEW;
}

function backOff(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS);
}
