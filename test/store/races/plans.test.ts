import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRow } from '../../../src/store/port/audit.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { countFor } from '../../support/count-for.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import { askPlan } from '../guards/plans.ts';
import { approve, attempt, newFreeze, outcome, unfreezeVote, withdrawal } from '../support.ts';

const ROUNDS = countFor('PLAN_RACE_ROUNDS', { quick: 40, full: 400 });

let redis: TestRedis;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close());

/** Tries to run each step, as a woken worker would; what it starts succeeds. */
async function work(store: Store, steps: readonly string[], worker: string): Promise<void> {
  for (let look = 0; look < 4; look += 1)
    for (const step of steps) {
      const name = `${worker}-${look}-${step}`;
      const { outcome: started } = await store.start(step, attempt(name));
      if (started === 'started') await store.finish(step, outcome(name));
    }
}

async function rowsIn(store: Store): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for await (const row of store.exportAudit()) rows.push(row);
  return rows;
}

test('approve all, choose, edit, withdraw and freeze at once: only what was approved starts, in order, once, and nothing after an end', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = openRedisStore({ client: redis.client, prefix: `${redis.prefix}${round}:` });
    const { plan, first, second, third } = await askPlan(store);
    const steps = [first, second, third];
    const deeds = [
      () => store.vote(plan, approve('U-ann')),
      () => store.vote(plan, approve('U-ben', { chosen: { steps: [1, 3], digest: 'digest-2' } })),
      () => store.end(second, { state: 'superseded', reason: 'edited' }),
      () => store.end(plan, withdrawal('U-rita')),
      () => store.freeze(newFreeze('refund_order')),
      () => work(store, steps, 'one'),
      () => work(store, steps, 'two'),
    ];
    // Some of them each time, in another order.
    const chosen = deeds
      .map((deed, index) => ({ deed, at: Math.sin(round * 7 + index * 3) }))
      .filter(({ at }, index) => index > 4 || at > -0.5)
      .toSorted((left, right) => left.at - right.at);
    await Promise.all(chosen.map(({ deed }) => deed()));
    await store.unfreeze(unfreezeVote('refund_order'));
    await work(store, steps, 'last');

    const rows = await rowsIn(store);
    const at = (event: string, subject: string) =>
      rows.findIndex((row) => row.event === event && row.subject === subject);
    const started = rows
      .filter(({ event }) => event === 'started')
      .map(({ subject }) => steps.indexOf(subject));
    // In order, and none twice.
    expect(started).toEqual([...new Set(started)].toSorted());
    if (started.length > 0) expect(at('approved', plan)).toBeGreaterThan(-1);
    const isNarrowed = at('chosen', plan) !== -1;
    if (isNarrowed) expect(started).not.toContain(1);
    for (const [subject, event] of [
      [plan, 'withdrawn'],
      [second, 'superseded'],
    ] as const) {
      const end = at(event, subject);
      if (end !== -1) expect(rows.slice(end).filter((row) => row.event === 'started')).toEqual([]);
    }
  }
});
