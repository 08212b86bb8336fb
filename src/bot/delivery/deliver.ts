import type { OutboxItem } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { drawView } from './draw-view.ts';
import { sendRow } from './send-row.ts';
import { judgeSlackFailure } from './slack-failure.ts';

/** Few enough to be sent within the claim even by a slow Slack: what is not would be sent by somebody else as well. */
const MOST_AT_ONCE = 5;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;

/** Sends what is due in one shard's outbox, one item after the other, until nothing is. */
export async function deliver(parts: BotParts, shard: number): Promise<void> {
  for (;;) {
    const items = await parts.store.takeOutbox(shard, { leaseMs: parts.timing.claimMs, limit: MOST_AT_ONCE });
    for (const item of items) await deliverItem(parts, item);
    if (items.length < MOST_AT_ONCE) return;
  }
}

async function deliverItem(parts: BotParts, item: OutboxItem): Promise<void> {
  try {
    await (item.kind === 'row' ? sendRow(parts, item) : drawView(parts, item));
  } catch (err) {
    const failure = judgeSlackFailure(err);
    const delayMs = (failure.kind === 'later' && failure.afterMs) || backOff(item.tries);
    parts.logger.warn(
      { item: item.item, tries: item.tries, reason: failure.reason, delayMs },
      'not delivered yet',
    );
    await parts.store.retryOutbox(item, delayMs);
  }
}

function backOff(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS);
}
