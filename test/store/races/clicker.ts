import { Redis } from 'ioredis';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { approve, attempt, outcome, reject, withdrawal } from '../support.ts';

/** The calls of a process in one round, all at once. */
export interface Order {
  readonly requestId: string;
  readonly acts: readonly Act[];
}

export type Act =
  | { readonly kind: 'approve' | 'reject' | 'withdraw'; readonly who: string }
  | { readonly kind: 'expire' };

/** The answer to one person. */
export interface Told {
  readonly act: Act;
  readonly outcome: string;
  readonly state?: string;
  readonly by?: string;
}

export interface Report {
  readonly told: readonly Told[];
  /** The number of times this process ran the action. */
  readonly effects: number;
}

function perform(store: Store, requestId: string, act: Act) {
  switch (act.kind) {
    case 'approve':
      return store.vote(requestId, approve(act.who));
    case 'reject':
      return store.vote(requestId, reject(act.who));
    case 'withdraw':
      return store.end(requestId, withdrawal(act.who, 'never mind'));
    case 'expire':
      return store.end(requestId, { state: 'expired' });
  }
}

/** Every process hopes to run the action; the record lets one. */
async function run(store: Store, requestId: string, people: readonly string[]): Promise<number> {
  const name = `process-${process.pid}`;
  const started = await store.start(requestId, attempt(name, { stillEligible: people }));
  if (started.outcome !== 'started') return 0;
  await store.finish(requestId, outcome(name));
  return 1;
}

async function obey(store: Store, { requestId, acts }: Order): Promise<Report> {
  const told = await Promise.all(
    acts.map(async (act): Promise<Told> => ({ act, ...(await perform(store, requestId, act)) })),
  );
  const people = Array.from({ length: 20 }, (_, index) => `U-${index}`);
  return { told, effects: await run(store, requestId, people) };
}

const [url, prefix] = process.argv.slice(2);
if (url === undefined || prefix === undefined) throw new Error('Usage: races-clicker <redis url> <prefix>');
const store = openRedisStore({ client: new Redis(url), prefix });
process.on('message', (order: Order) => {
  void obey(store, order).then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
