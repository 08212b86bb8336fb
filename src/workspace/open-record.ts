import { observeRecord } from '../observe/observe-record.ts';
import { currentTrace } from '../observe/tracing.ts';
import { manifestIn } from '../store/documents/manifest.ts';
import type { Queue } from '../store/port/queue.ts';
import type { Report } from '../store/port/report.ts';
import type { Store } from '../store/port/store.ts';
import { openQueue } from '../store/queue/queue.ts';
import { openRedisStore } from '../store/redis/redis-store.ts';
import type { Manifest } from '../tools/manifest/manifest.ts';
import type { LockText } from '../tools/toolbox/open-toolbox.ts';
import { redactRow } from '../tools/toolbox/request-digest.ts';
import type { BotProcess, Installation } from './installation.ts';
import { Listeners } from './listeners.ts';

/** The record of a workspace, the manifest that it begins with, and the queue that the record wakes. */
export interface WorkspaceRecord {
  readonly store: Store;
  readonly queue: Queue;
  readonly manifest: Manifest;
  /** The lock file that is active; without it, the one beside the manifest. */
  readonly lock: LockText | undefined;
  /** Told the manifest that has become active. */
  readonly replaced: Listeners<Manifest>;
  /** Told what each change of this process has put on record. */
  readonly reports: Listeners<Report>;
  /** Told Redis's code when it refuses a write. */
  readonly refusedWrites: Listeners<string>;
}

/** Opens the record, chooses the manifest by it, and lets its reports wake the queue. */
export async function openRecord(
  { prefix, manifest: given, policyChanges }: Installation,
  { settings, redis, secrets, metrics, logger, sweep }: BotProcess,
): Promise<WorkspaceRecord> {
  const reports = new Listeners<Report>();
  const refusedWrites = new Listeners<string>();
  const replaced = new Listeners<Manifest>();
  let { retention } = given;
  const store = openRedisStore({
    client: redis,
    prefix,
    retention: () => retention,
    redact: (body) => redactRow(body, secrets),
    trace: currentTrace,
    onRefusedWrite: refusedWrites.emit,
    onReport: reports.emit,
  });
  const observe = observeRecord({ metrics, logger });
  reports.add(({ events }) => {
    for (const event of events) observe(event);
  });
  const chosen = await policyChanges?.choose(manifestIn(store));
  const manifest = chosen?.manifest ?? given;
  const follow = (active: Manifest): void => {
    retention = active.retention;
  };
  follow(manifest);
  replaced.add(follow);
  const queue = openQueue({
    settings: settings.redis,
    store,
    log: logger.child({ part: 'record' }),
    prefix,
    ...(sweep !== undefined && { sweep }),
  });
  reports.add(({ due }) => {
    for (const { work, delayMs } of due) queue.wake(work, delayMs);
  });
  return { store, queue, manifest, lock: chosen?.lock, replaced, reports, refusedWrites };
}
