import { type Measures, SHARDS, type Store } from '../store/port/store.ts';
import type { Metrics } from './metrics.ts';

/** Measures the whole record: the sums over all shards, and the age of the oldest message in any. */
export async function measureAll(store: Pick<Store, 'measure'>): Promise<Measures> {
  const shards = await Promise.all([...Array(SHARDS).keys()].map((shard) => store.measure(shard)));
  const sum = (pick: (measures: Measures) => number): number =>
    shards.reduce((total, measures) => total + pick(measures), 0);
  return {
    requests: {
      pending: sum(({ requests }) => requests.pending),
      approved: sum(({ requests }) => requests.approved),
      started: sum(({ requests }) => requests.started),
      unknown: sum(({ requests }) => requests.unknown),
    },
    quarantinedThreads: sum(({ quarantinedThreads }) => quarantinedThreads),
    outbox: {
      waiting: sum(({ outbox }) => outbox.waiting),
      due: sum(({ outbox }) => outbox.due),
      oldestMs: Math.max(...shards.map(({ outbox }) => outbox.oldestMs)),
    },
    overdueTimers: sum(({ overdueTimers }) => overdueTimers),
  };
}

/** Sets the gauges from the record. If it cannot be measured they keep their values, and `countersign_record_up` is 0. */
export async function setGauges(
  store: Pick<Store, 'measure' | 'readFreezes'>,
  metrics: Metrics,
): Promise<void> {
  try {
    const [{ requests, quarantinedThreads, outbox, overdueTimers }, { freezes }] = await Promise.all([
      measureAll(store),
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
