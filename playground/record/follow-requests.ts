import { type Keys, threadOf } from '../../src/store/port/keys.ts';
import { SettledState } from '../../src/store/port/request-record.ts';
import type { RedisClient } from '../../src/store/redis/run-script.ts';
import type { RecordedRequest } from '../record-protocol.ts';
import { parseAuditRows, StreamRange } from './audit-rows.ts';
import { byAge, loadRequests } from './load-requests.ts';

/**
 * Returns a function that lists all stored requests named in the audit log, oldest first. Each call reads only new rows
 * and loads only requests that may have changed: unsettled ones and those named in the new rows.
 */
export function followRequests(client: RedisClient, keys: Keys): () => Promise<readonly RecordedRequest[]> {
  let last = '0-0';
  /** All named requests; the value is set once a request is settled. */
  const known = new Map<string, RecordedRequest | undefined>();

  async function readOn(): Promise<void> {
    const range = StreamRange.parse(await client.xrange(keys.shared('audit'), `(${last}`, '+'));
    for (const { subject } of parseAuditRows(range)) {
      if (threadOf(subject) !== undefined) known.set(subject, undefined);
    }
    [last] = range.at(-1) ?? [last];
  }

  return async () => {
    await readOn();
    // Another call may read more rows concurrently; this one answers for the rows it has seen.
    const seen = [...known];
    const open = seen.flatMap(([id, settled]) => (settled === undefined ? [id] : []));
    const loaded = new Map(
      (await loadRequests(client, keys, open)).map((request) => [request.id, request] as const),
    );
    for (const id of open) {
      const request = loaded.get(id);
      if (request === undefined) known.delete(id);
      else if (SettledState.safeParse(request.state).success) known.set(id, request);
    }
    return seen.flatMap(([id, settled]) => settled ?? loaded.get(id) ?? []).sort(byAge);
  };
}
