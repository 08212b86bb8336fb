import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { builtProduct } from '../../support/built-product.ts';
import { countFor } from '../../support/count-for.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import { approve, ask, attempt, findGrant, found, MINUTE_MS, openGrant, unfreezeVote } from '../support.ts';
import type { Act, Answer, Order } from './contender.ts';

/** The same races as in policy-races.test.ts, with a process for each contender, and one of everything that can happen to a request. */
const PROCESSES = 20;
const ROUNDS = countFor('PROCESS_RACE_ROUNDS', { quick: 5, full: 20 });
/** Long enough that every process has its order before they all begin. */
const LEAD_MS = 15;
const PEOPLE = Array.from({ length: PROCESSES }, (_, index) => `U-${index}`);

let redis: TestRedis;
let store: Store;
let contenders: readonly ChildProcess[] = [];

beforeAll(async () => {
  redis = connectTestRedis();
  store = openRedisStore(redis);
  const program = join(await builtProduct(), 'contender.js');
  contenders = Array.from({ length: PROCESSES }, () => fork(program, [redis.url, redis.prefix]));
  await Promise.all(contenders.map((contender) => once(contender, 'message')));
});

afterAll(async () => {
  await Promise.all(
    contenders.map(async (contender) => {
      const ended = once(contender, 'exit');
      contender.disconnect();
      await ended;
    }),
  );
  await redis.close();
});

/** Gives each process its act, in another order each round, and gathers the answers in the order of the acts. */
async function atOnce(round: number, acts: readonly Act[]): Promise<Answer[]> {
  const at = Date.now() + LEAD_MS;
  return Promise.all(
    acts.map(async (act, index) => {
      const contender = contenders[(index * 7 + round) % PROCESSES];
      if (contender === undefined) throw new Error('There are more acts than processes');
      const answered = once(contender, 'message');
      contender.send({ at, act } satisfies Order);
      const [answer]: Answer[] = await answered;
      if (answer === undefined) throw new Error('A process reported nothing');
      return answer;
    }),
  );
}

/**
 * Lets one act race against others, from another place each round. In some rounds two of the others come before it, or after its answer,
 * so that both ends are sure to be seen.
 */
async function raceAgainst(
  round: number,
  one: Act,
  others: readonly Act[],
): Promise<{ readonly answer: Answer | undefined; readonly others: readonly Answer[] }> {
  const early = round % 5 === 3 ? 2 : 0;
  const late = others.length - (round % 5 === 4 ? 2 : 0);
  const racing = others.slice(early, late);
  const place = (round * 3) % (racing.length + 1);
  const before = await atOnce(round, others.slice(0, early));
  const answers = await atOnce(round, [...racing.slice(0, place), one, ...racing.slice(place)]);
  const after = await atOnce(round, others.slice(late));
  const raced = answers.filter((_, index) => index !== place);
  return { answer: answers[place], others: [...before, ...raced, ...after] };
}

/** Prints what was seen, for the table in docs/evidence/faults.md. */
function report(race: string, seen: Readonly<Record<string, number>>): void {
  const figures = Object.entries(seen).map(([what, count]) => `${count} ${what}`);
  process.stderr.write(`${race}, ${ROUNDS} rounds: ${figures.join(', ')}\n`);
}

async function askApproved(count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const id = await ask(store);
      await store.vote(id, approve('U-ann'));
      return id;
    }),
  );
}

/** Counts by request the audit rows that say that it started or ended. */
async function countEnds(): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  for await (const { subject, event } of store.exportAudit())
    if (['started', 'superseded', 'withdrawn'].includes(event))
      ends.set(subject, (ends.get(subject) ?? 0) + 1);
  return ends;
}

const countOf = (answers: readonly Answer[], wanted: string): number =>
  answers.filter(({ outcome }) => outcome === wanted).length;

test(`of ${PROCESSES} processes at the edge of a limit as many start as it allows, never one more (${ROUNDS} rounds)`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const most = 1 + (round % 7);
    const use = { key: `edge-${round}`, amount: 10, max: 10 * most, windowMs: MINUTE_MS };
    const ids = await askApproved(PROCESSES);
    const answers = await atOnce(
      round,
      ids.map((requestId) => ({ kind: 'start', requestId, use })),
    );
    expect(countOf(answers, 'started')).toBe(most);
    expect(countOf(answers, 'over')).toBe(PROCESSES - most);
    expect(await store.readTotals([use])).toEqual([{ count: most, sum: 10 * most }]);
  }
});

test(`of ${PROCESSES} processes that look after two actions at the edge of a limit one starts one of them (${ROUNDS} rounds)`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const use = { key: `pair-${round}`, amount: 10, max: 10, windowMs: MINUTE_MS };
    const ids = await askApproved(2);
    const answers = await atOnce(
      round,
      Array.from({ length: PROCESSES }, (_, index) => ({
        kind: 'start',
        requestId: ids[index % 2] ?? '',
        use,
      })),
    );
    expect(countOf(answers, 'started')).toBe(1);
    expect(await store.readTotals([use])).toEqual([{ count: 1, sum: 10 }]);
  }
});

test(`of ${PROCESSES} processes for the last uses of a grant as many get one as there are (${ROUNDS} rounds)`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const grant = `last-${round}`;
    const uses = 1 + (round % 5);
    await openGrant(store, { id: grant, uses });
    const answers = await atOnce(
      round,
      Array.from({ length: PROCESSES }, (_, index) => ({ kind: 'use', grant, call: `call-${index}` })),
    );
    expect(countOf(answers, 'counted')).toBe(uses);
    expect(countOf(answers, 'spent')).toBe(PROCESSES - uses);
  }
});

test(`of ${PROCESSES} processes that approve, edit, withdraw, freeze and start one request at once one ends it or starts it (${ROUNDS} rounds)`, async () => {
  const expected = new Map<string, number>();
  const seen = { started: 0, edited: 0, withdrawn: 0, 'held and started later': 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const quorum = 1 + (round % 3);
    const requestId = await ask(store, { policy: { quorum } });
    const acts: Act[] = Array.from({ length: PROCESSES }, (_, index) => {
      // In every fourth round nobody is against it, so that some are sure to start.
      const isWanted = round % 4 === 0;
      if (index % 10 === 0) return { kind: 'freeze' };
      if (index % 5 === 1 && !isWanted) return { kind: 'edit', requestId, who: 'U-rita' };
      if (index % 5 === 2 && !isWanted) return { kind: 'withdraw', requestId, who: 'U-rita' };
      if (index % 5 === 3) return { kind: 'start', requestId };
      return { kind: 'approve', requestId, who: `U-${index}` };
    });
    // Others begin first in each round; the freeze comes among them, before them, or when they are over.
    const frozen = ['among', 'before', 'after'][round % 3];
    const racing = Array.from({ length: PROCESSES }, (_, index) => acts[(index * 3 + round) % PROCESSES])
      .flatMap((act) => act ?? [])
      .filter(({ kind }) => frozen === 'among' || kind !== 'freeze');
    const before = frozen === 'before' ? await atOnce(round, [{ kind: 'freeze' }]) : [];
    const answers = await atOnce(round, racing);
    const after = frozen === 'after' ? await atOnce(round, [{ kind: 'freeze' }]) : [];
    const countBy = (kind: Act['kind'], outcome: string) =>
      answers.filter((answer, index) => racing[index]?.kind === kind && answer.outcome === outcome).length;
    const started = countOf(answers, 'started');
    const edited = countBy('edit', 'ended');
    const withdrawn = countBy('withdraw', 'ended');
    expect(started).toBeLessThanOrEqual(1);
    const { state, attempts, approvals } = await found(store, requestId);
    // A freeze names what had begun, and nothing begins after its answer.
    if (before.length > 0) expect(started).toBe(0);
    for (const { running = [] } of after) expect(running.includes(requestId)).toBe(started === 1);
    expect(attempts).toBe(started);
    if (started === 1) expect(approvals).toBe(quorum);
    expect(edited > 0 ? 1 : 0, `${edited} edits, ${withdrawn} withdrawals`).toBe(
      state === 'superseded' ? 1 : 0,
    );
    expect(withdrawn > 0 ? 1 : 0).toBe(state === 'withdrawn' ? 1 : 0);
    await store.unfreeze(unfreezeVote('*'));
    const later = await store.start(requestId, attempt('later', { stillEligible: PEOPLE }));
    // What was held starts afterwards; what started or ended does not.
    expect(later.outcome === 'started').toBe(state === 'approved');
    expected.set(requestId, state === 'pending' ? 0 : 1);
    seen.started += started;
    seen.edited += state === 'superseded' ? 1 : 0;
    seen.withdrawn += state === 'withdrawn' ? 1 : 0;
    seen['held and started later'] += state === 'approved' ? 1 : 0;
  }
  const ends = await countEnds();
  for (const [requestId, count] of expected) expect(ends.get(requestId) ?? 0, requestId).toBe(count);
  report(`${PROCESSES} processes approve, edit, withdraw, freeze and start`, seen);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
});

test(`a freeze against ${PROCESSES - 1} processes that start names all that had begun, and none begins after it (${ROUNDS} rounds)`, async () => {
  const seen = { started: 0, frozen: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = await askApproved(PROCESSES - 1);
    const { answer: freeze, others } = await raceAgainst(
      round,
      { kind: 'freeze' },
      ids.map((requestId) => ({ kind: 'start', requestId })),
    );
    const begun = ids.filter((_, index) => others[index]?.outcome === 'started');
    expect(freeze?.outcome).toBe('frozen');
    expect((freeze?.running ?? []).filter((id) => ids.includes(id)).sort()).toEqual(begun.sort());
    seen.started += begun.length;
    seen.frozen += countOf(others, 'frozen');
    expect(begun.length + countOf(others, 'frozen')).toBe(ids.length);
    await store.unfreeze(unfreezeVote('*'));
    // What was held starts afterwards, once.
    for (const id of ids.filter((each) => !begun.includes(each)))
      expect(await store.start(id, attempt('later'))).toMatchObject({ outcome: 'started', tries: 1 });
  }
  report(`a freeze against ${PROCESSES - 1} starts`, seen);
  expect(seen.started + seen.frozen).toBe(ROUNDS * (PROCESSES - 1));
  expect(seen.frozen).toBeGreaterThan(0);
  expect(seen.started).toBeGreaterThan(0);
});

test(`a revocation against ${PROCESSES - 1} processes that use the grant names every use there ever is (${ROUNDS} rounds)`, async () => {
  const seen = { used: 0, revoked: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const grant = `revoked-${round}`;
    await openGrant(store, { id: grant, uses: PROCESSES });
    const calls = Array.from(
      { length: PROCESSES - 1 },
      (_, index): Act => ({ kind: 'use', grant, call: `call-${index}` }),
    );
    const { answer, others } = await raceAgainst(round, { kind: 'revoke', grant }, calls);
    const used = countOf(others, 'counted');
    expect(answer).toMatchObject({ outcome: 'revoked', used });
    expect(used + countOf(others, 'revoked')).toBe(PROCESSES - 1);
    expect(await findGrant(store, grant)).toMatchObject({ used });
    seen.used += used;
    seen.revoked += PROCESSES - 1 - used;
  }
  report(`a revocation against ${PROCESSES - 1} uses`, seen);
  expect(seen.used).toBeGreaterThan(0);
  expect(seen.revoked).toBeGreaterThan(0);
});
