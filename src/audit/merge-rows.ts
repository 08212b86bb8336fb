import type { AuditRow, AuditStore } from '../store/port/audit.ts';

/** A page of each shard is in memory at a time. */
const PAGE = 100;

/** Yields the rows of many shards in the order of time; rows of one shard always stay in their own order. */
export async function* mergeRows(
  store: Pick<AuditStore, 'readAudit'>,
  shards: readonly { readonly shard: number; readonly after: number }[],
): AsyncGenerator<AuditRow> {
  const sources = shards.map(({ shard, after }) =>
    store.readAudit(shard, after, PAGE)[Symbol.asyncIterator](),
  );
  const firsts = await Promise.all(sources.map((source) => source.next()));
  const waiting = firsts.flatMap(({ done, value }, index) => (done ? [] : [{ row: value, index }]));
  while (waiting.length > 0) {
    let earliest = 0;
    for (let place = 1; place < waiting.length; place += 1) {
      const [candidate, best] = [waiting[place], waiting[earliest]];
      if (candidate !== undefined && best !== undefined && isBefore(candidate.row, best.row))
        earliest = place;
    }
    const [next] = waiting.splice(earliest, 1);
    if (next === undefined) return;
    yield next.row;
    const following = await sources[next.index]?.next();
    if (following !== undefined && !following.done) waiting.push({ row: following.value, index: next.index });
  }
}

function isBefore(left: AuditRow, right: AuditRow): boolean {
  return left.at < right.at || (left.at === right.at && left.shard < right.shard);
}
