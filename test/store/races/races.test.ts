import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRow } from '../../../src/store/port/audit.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { builtProduct } from '../../support/built-product.ts';
import { countFor } from '../../support/count-for.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import { ask, found } from '../support.ts';
import type { Act, Report, Told } from './clicker.ts';

const PROCESSES = 4;
const PEOPLE = 20;
const ROUNDS = countFor('RACE_ROUNDS', { quick: 25, full: 250 });
const MIXED_ROUNDS = Math.ceil(ROUNDS / 2);
const SETTLED = ['rejected', 'expired', 'withdrawn', 'succeeded'];

let redis: TestRedis;
let store: Store;
let clickers: readonly ChildProcess[] = [];

beforeAll(async () => {
  redis = connectTestRedis();
  store = openRedisStore(redis);
  const clicker = join(await builtProduct(), 'clicker.js');
  clickers = Array.from({ length: PROCESSES }, () => fork(clicker, [redis.url, redis.prefix]));
  await Promise.all(clickers.map((clicker) => once(clicker, 'message')));
});

afterAll(async () => {
  await Promise.all(
    clickers.map(async (clicker) => {
      const ended = once(clicker, 'exit');
      clicker.disconnect();
      await ended;
    }),
  );
  await redis.close();
});

/** Deals the acts out to the processes, lets them all act at once, and gathers what everybody was told. */
async function actAtOnce(
  requestId: string,
  acts: readonly Act[],
): Promise<{ told: Told[]; effects: number }> {
  const reports = await Promise.all(
    clickers.map(async (clicker, place) => {
      const reported = once(clicker, 'message');
      clicker.send({ requestId, acts: acts.filter((_, index) => index % PROCESSES === place) });
      const [report]: Report[] = await reported;
      if (report === undefined) throw new Error('A process reported nothing');
      return report;
    }),
  );
  return {
    told: reports.flatMap((report) => report.told),
    effects: reports.reduce((sum, report) => sum + report.effects, 0),
  };
}

/** Acts in another order in every round, so that no person is always the first. */
function clicks(round: number, kindOf: (index: number) => 'approve' | 'reject'): Act[] {
  return Array.from({ length: PEOPLE }, (_, index) => {
    const person = (index * 7 + round) % PEOPLE;
    return { kind: kindOf(person), who: `U-${person}` };
  });
}

async function rowsBySubject(): Promise<Map<string, AuditRow[]>> {
  const rows = new Map<string, AuditRow[]>();
  for await (const row of store.exportAudit()) rows.set(row.subject, [...(rows.get(row.subject) ?? []), row]);
  return rows;
}

const count = (rows: readonly AuditRow[], ...events: readonly string[]): number =>
  rows.filter(({ event }) => events.includes(event)).length;

test(`of ${PEOPLE} people who click at once through ${PROCESSES} processes one decides, and all others are told who (${ROUNDS} rounds)`, async () => {
  const ids: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = await ask(store);
    ids.push(id);
    const { told, effects } = await actAtOnce(
      id,
      clicks(round, () => 'approve'),
    );
    const winners = told.filter((each) => each.outcome === 'voted');
    expect(winners, id).toEqual([expect.objectContaining({ state: 'approved' })]);
    const [winner] = winners;
    const by = winner?.act.kind === 'approve' ? winner.act.who : '';
    const losers = told.filter((each) => each !== winner);
    expect(losers, id).toHaveLength(PEOPLE - 1);
    for (const loser of losers) expect(loser, id).toMatchObject({ outcome: 'settled', by });
    expect(effects, id).toBe(1);
    const { state, votes, attempts, by: decider } = await found(store, id);
    expect({ state, votes: votes.length, attempts, decider }).toEqual({
      state: 'succeeded',
      votes: 1,
      attempts: 1,
      decider: by,
    });
  }
  const rows = await rowsBySubject();
  for (const id of ids) {
    const own = rows.get(id) ?? [];
    expect(count(own, 'refused'), id).toBe(PEOPLE - 1);
    const events = own.map(({ event }) => event).filter((event) => event !== 'refused');
    expect(events, id).toEqual(['asked', 'voted', 'approved', 'started', 'succeeded']);
  }
});

test('approvals, rejections, a withdrawal and the end of the time in one moment have one outcome', async () => {
  const outcomes = new Set<string>();
  const ids: string[] = [];
  for (let round = 0; round < MIXED_ROUNDS; round += 1) {
    const quorum = (round % 3) + 1;
    const expiresInMs = round % 2 === 0 ? 3_600_000 : round % 7;
    const id = await ask(store, { policy: { quorum, expiresInMs } });
    ids.push(id);
    // In some rounds nobody is against it, so that some requests are sure to succeed.
    const isWanted = round % 10 === 4;
    const acts: Act[] = clicks(round, (person) =>
      !isWanted && person % 10 === round % 10 ? 'reject' : 'approve',
    );
    // Where the time is over at once nobody withdraws, so that some requests are sure to expire.
    const withdrawals: Act[] = isWanted || expiresInMs === 0 ? [] : [{ kind: 'withdraw', who: 'U-rita' }];
    const others: Act[] = [...withdrawals, { kind: 'expire' }];
    acts.splice(round % PEOPLE, 0, ...others);
    const { told, effects } = await actAtOnce(id, acts);
    // Nobody came to end it where the time ran out after the sweep had looked.
    if ((await found(store, id)).state === 'pending') await store.end(id, { state: 'expired' });
    const { state, by = '', votes, approvals } = await found(store, id);
    outcomes.add(state);
    expect(SETTLED, id).toContain(state);
    expect(effects, id).toBe(state === 'succeeded' ? 1 : 0);
    expect(told, id).toHaveLength(PEOPLE + others.length);
    expect(approvals, id).toBe(votes.filter(({ decision }) => decision === 'approve').length);
    expect(approvals, id).toBeLessThanOrEqual(quorum);
    for (const each of told.filter(({ outcome }) => outcome === 'settled')) {
      const early = ['approved', 'started', state].includes(each.state ?? '');
      expect(early, `${id}: ${JSON.stringify(each)}`).toBe(true);
      if (each.state === state) expect(each.by, id).toBe(by);
    }
  }
  const rows = await rowsBySubject();
  for (const id of ids) {
    const own = rows.get(id) ?? [];
    expect(count(own, ...SETTLED), id).toBe(1);
    expect(count(own, 'approved'), id).toBeLessThanOrEqual(1);
    expect(count(own, 'started'), id).toBe(count(own, 'succeeded'));
  }
  expect([...outcomes].sort()).toEqual([...SETTLED].sort());
});
