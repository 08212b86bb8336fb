import { randomUUID } from 'node:crypto';
import { WebClient } from '@slack/web-api';
import { Redis } from 'ioredis';
import { Directory } from '../../src/bot/slack/directory.ts';
import { findHistory } from '../../src/page/api.ts';
import { RequestIndex } from '../../src/page/request-index.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { median } from '../support/quantiles.ts';
import type { Table } from '../support/table.ts';

const FEW = 100;
const AT_ONCE = 200;
const AUDITOR = { who: 'U-auditor', name: 'Auditor', seesAll: true };
/** Questions that people ask the page's history, as its address says them. */
const QUESTIONS = {
  'the newest requests': '',
  'page 2': 'page=2',
  'by title': 'text=refund+7',
  'by person': 'person=u-req-3',
  'by state and time': 'state=rejected&since=2020-01-01',
};

/** Measures a list and a search on the page with few and with many decided requests. */
export async function measureHistory({
  rounds,
  many,
}: {
  readonly rounds: number;
  readonly many: number;
}): Promise<Table> {
  const server = await startPrivateRedis();
  const stores: Store[] = [];
  try {
    const counts = [FEW, many];
    const contexts = await Promise.all(
      counts.map(async (count) => {
        const store = openRedisStore({ client: new Redis(server.url), prefix: `history-${count}` });
        stores.push(store);
        await fill(store, count);
        return contextOf(store);
      }),
    );
    const rows = [];
    for (const [name, question] of Object.entries(QUESTIONS)) {
      const times: number[][] = counts.map(() => []);
      for (let round = 0; round < rounds; round += 1)
        for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const context = contexts[index];
          if (context === undefined) continue;
          const start = performance.now();
          const { items } = await findHistory(context, AUDITOR, new URLSearchParams(question));
          times[index]?.push(performance.now() - start);
          if (items.length === 0) throw new Error(`Nothing was found ${name}`);
        }
      const [few = Number.NaN, more = Number.NaN] = times.map(median);
      rows.push([name, `${few.toFixed(2)} ms`, `${more.toFixed(2)} ms`, (more / few).toFixed(2)]);
    }
    const named = counts.map((count) => count.toLocaleString('en'));
    return {
      title: `The page's history with decided requests (median of ${rounds} rounds)`,
      columns: ['', ...named.map((count) => `${count} requests`), `${named[1]} of ${FEW}`],
      rows,
    };
  } finally {
    for (const store of stores) await store.close();
    await server.stop();
  }
}

async function fill(store: Store, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - from) }, async (_, index) => {
        const number = from + index;
        const id = `C1:${number}~a`;
        const decision = number % 5 === 0 ? 'reject' : 'approve';
        await store.note(randomUUID(), 'asked', id, {
          ...{ tool: 'refund_order', title: `Refund ${number}`, requester: `U-req-${number % 40}` },
          ...{ policy_name: 'default', rule: 'always' },
        });
        await store.note(randomUUID(), decision === 'reject' ? 'rejected' : 'approved', id, {});
      }),
    );
}

/** Nobody here has an id of Slack, so no name is looked up. */
function contextOf(store: Store) {
  return { index: new RequestIndex(store), directory: new Directory(new WebClient()) };
}
