import type { Store } from '../store/port/store.ts';
import type { Metrics } from './metrics.ts';

/** Sets the gauges from the record. If it cannot be measured they keep their values, and `countersign_record_up` is 0. */
export async function setGauges(
  store: Pick<Store, 'measure' | 'readFreezes'>,
  metrics: Metrics,
): Promise<void> {
  try {
    const [{ requests, quarantinedThreads, outbox, overdueTimers }, { freezes }] = await Promise.all([
      store.measure(),
      store.readFreezes(),
    ]);
    metrics.set('countersign_freezes', {}, freezes.length);
    for (const [state, count] of Object.entries(requests))
      metrics.set('countersign_requests_open', { state }, count);
    metrics.set('countersign_threads_quarantined', {}, quarantinedThreads);
    metrics.set('countersign_outbox_items', { state: 'waiting' }, outbox.waiting);
    metrics.set('countersign_outbox_items', { state: 'due' }, outbox.due);
    metrics.set('countersign_outbox_oldest_seconds', {}, outbox.oldestMs / 1_000);
    metrics.set('countersign_timers_overdue', {}, overdueTimers);
    metrics.set('countersign_record_up', {}, 1);
  } catch {
    metrics.set('countersign_record_up', {}, 0);
  }
}
