import type { Logger } from 'pino';
import type { RecordEvent, RequestFacts } from '../store/port/report.ts';
import type { Store } from '../store/port/store.ts';
import type { Metrics } from './metrics.ts';
import { pastSpan, traceIdOf } from './tracing.ts';

/** The state that a request enters with an event; any other event leaves it where it is. */
const ENTERED: Readonly<Record<string, string>> = {
  asked: 'pending',
  approved: 'approved',
  retried: 'approved',
  started: 'started',
  unknown: 'unknown',
  paused: 'paused',
  answered: 'answered',
  rejected: 'rejected',
  expired: 'expired',
  withdrawn: 'withdrawn',
  superseded: 'superseded',
  succeeded: 'succeeded',
  failed: 'failed',
  abandoned: 'failed',
  resolved: 'resolved',
};

/** The events that end the wait for people, unless they had decided before. */
const ENDS_WAIT = ['approved', 'answered', 'rejected', 'expired', 'withdrawn', 'superseded', 'abandoned'];

/** The events that an operator should look at. */
const WARNINGS = ['unknown', 'quarantined', 'unreadable'];

export interface Watch {
  readonly metrics: Metrics;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** Makes each row of the audit log one line in the log; a step of a request is counted, and the wait for people is one span. */
export function observeRecord({ metrics, logger }: Watch): (event: RecordEvent) => void {
  function countStep({ event, at }: RecordEvent, request: RequestFacts): void {
    const { requestId, kind, tool, policy, createdAt, decidedAt, trace } = request;
    const state = ENTERED[event];
    if (event === 'late') metrics.count('countersign_leases_lost_total', { kind: 'attempt' });
    if (state === undefined) return;
    metrics.count('countersign_request_transitions_total', { state, policy, tool });
    if (ENDS_WAIT.includes(event) && (event === 'approved' || decidedAt === undefined)) {
      metrics.time(
        'countersign_request_decision_seconds',
        { policy, decision: state },
        (at - createdAt) / 1_000,
      );
      const attributes = { 'countersign.request.id': requestId, 'countersign.request.state': state };
      pastSpan(`wait for ${kind}`, createdAt, { parent: trace, attributes });
    }
    if ((event === 'succeeded' || event === 'failed') && decidedAt !== undefined)
      metrics.time('countersign_request_effect_seconds', { tool, state }, (at - decidedAt) / 1_000);
  }

  return (row) => {
    const { event, subject, detail, request } = row;
    const log = WARNINGS.includes(event) ? 'warn' : 'info';
    if (request === undefined) {
      logger[log]({ subject, detail }, `record ${event}`);
      return;
    }
    const { requestId, threadId, kind, tool, policy, requester, trace } = request;
    const traceId = traceIdOf(trace);
    logger[log]({ requestId, threadId, traceId, kind, tool, policy, requester, detail }, `request ${event}`);
    countStep(row, request);
  };
}

/** The figures that a scrape asks Redis, Slack's connection and the toolbox for, beside the record. */
export interface Surroundings {
  /** Returns Redis's code if it refuses to write. */
  readonly refusedWrite: () => Promise<string | undefined>;
  readonly memory: () => Promise<
    { readonly usedBytes: number; readonly maxBytes: number | undefined } | undefined
  >;
  readonly toolProblems: () => number;
  /** Whether Slack can reach the bot. */
  readonly isConnected: () => boolean;
}

/** Sets the gauges of what surrounds the record; a Redis that does not answer takes no writes. */
export async function setSurroundings(
  { refusedWrite, memory, toolProblems, isConnected }: Surroundings,
  metrics: Metrics,
): Promise<void> {
  metrics.set('countersign_slack_connected', {}, isConnected() ? 1 : 0);
  metrics.set('countersign_tool_problems', {}, toolProblems());
  try {
    const [code, found] = await Promise.all([refusedWrite(), memory()]);
    metrics.set('countersign_record_writable', {}, code === undefined ? 1 : 0);
    if (found === undefined) return;
    metrics.set('countersign_redis_memory_bytes', { kind: 'used' }, found.usedBytes);
    const max = { kind: 'max' };
    if (found.maxBytes === undefined) metrics.unset('countersign_redis_memory_bytes', max);
    else metrics.set('countersign_redis_memory_bytes', max, found.maxBytes);
  } catch {
    metrics.set('countersign_record_writable', {}, 0);
  }
}

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
    metrics.set('countersign_webhooks_oldest_seconds', {}, outbox.oldestWebhookMs / 1_000);
    metrics.set('countersign_timers_overdue', {}, overdueTimers);
    metrics.set('countersign_record_up', {}, 1);
  } catch {
    metrics.set('countersign_record_up', {}, 0);
  }
}
