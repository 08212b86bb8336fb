import { inSpan } from '../../observe/tracing.ts';
import type { OutboxItem } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { drawDigest } from '../digests/draw-digest.ts';
import { THREAD_VIEW } from '../requests/view-ids.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { drawView } from './draw-view.ts';
import { sendRow } from './send-row.ts';

/** Few enough to be sent within the claim, even by a slow Slack; otherwise another sender would send them as well. */
const BATCH = 5;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** Sends the due items of one shard's outbox, one after another, until none is left. */
export async function deliver(context: BotContext, shard: number): Promise<void> {
  for (;;) {
    const items = await context.store.claimOutbox(shard, { leaseMs: context.timing.claimMs, limit: BATCH });
    // Messages of a thread stay in their order. Copies of a card follow it, because they link to it.
    for (const item of items) if (item.kind !== 'view' || isInThread(item)) await deliverItem(context, item);
    const [first, ...copies] = items.filter((item) => item.kind === 'view' && !isInThread(item));
    if (first !== undefined) await deliverItem(context, first);
    await Promise.all(copies.map((item) => deliverItem(context, item)));
    if (items.length < BATCH) return;
  }
}

async function deliverItem(context: BotContext, item: OutboxItem): Promise<void> {
  try {
    if (item.kind === 'row') await sendInSpan(context, item);
    else await (item.kind === 'view' ? drawView(context, item) : drawDigest(context, item));
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

function sendInSpan(context: BotContext, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const { trace, kind } = item.body;
  const parent = typeof trace === 'string' ? trace : undefined;
  return inSpan(`send ${kind}`, { parent, kind: 'producer' }, () => sendRow(context, item));
}

function isInThread(item: OutboxItem): boolean {
  return item.kind === 'view' && item.viewId === THREAD_VIEW;
}

function backOff(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS);
}
