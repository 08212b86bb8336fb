import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { delegationsIn } from '../../../src/store/documents/delegations.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { countFor } from '../../support/count-for.ts';
import { connectTestRedis, type TestRedis } from '../../support/redis.ts';
import {
  actor,
  approve,
  ask,
  attempt,
  beginTurn,
  effectStart,
  findGrant,
  found,
  MINUTE_MS,
  newFreeze,
  newThreadId,
  openGrant,
  unfreezeVote,
} from '../support.ts';

const CONTENDERS = 20;
const ROUNDS = countFor('POLICY_RACE_ROUNDS', { quick: 5, full: 50 });

let redis: TestRedis;
/** A record for each contender, on a connection of its own. */
let stores: readonly Store[] = [];
let store: Store;

beforeAll(() => {
  redis = connectTestRedis();
  store = openRedisStore(redis);
  const { prefix } = redis;
  stores = Array.from({ length: CONTENDERS }, () => openRedisStore({ client: new Redis(redis.url), prefix }));
});
afterAll(async () => {
  await Promise.all(stores.map((each) => each.close()));
  await redis.close();
});

/** Runs the contenders at once, in another order each round. */
async function atOnce<Result>(
  round: number,
  act: (record: Store, index: number) => Promise<Result>,
): Promise<Result[]> {
  const order = stores.map((_, index) => (index * 7 + round) % CONTENDERS);
  return Promise.all(order.map((index) => act(stores[index] ?? store, index)));
}

test(`of ${CONTENDERS} starts against a freeze none begins after its answer, which names all that had begun (${ROUNDS} rounds)`, async () => {
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = await Promise.all(
      stores.map(async (each) => {
        const id = await ask(each);
        await each.vote(id, approve('U-ann'));
        return id;
      }),
    );
    const turns = await Promise.all(stores.slice(0, 5).map((each) => beginTurn(each, newThreadId())));
    const [told, starts, effects] = await Promise.all([
      (async () => {
        for (let wait = 0; wait < round % 5; wait += 1) await store.readFreezes();
        await store.freeze(newFreeze('*'));
        return store.listRunning();
      })(),
      atOnce(round, async (each, index) => {
        for (let wait = 0; wait < index % 8; wait += 1) await each.readFreezes();
        const id = ids[index] ?? '';
        return { id, ...(await each.start(id, attempt('first'))) };
      }),
      Promise.all(
        turns.map(async (turn, index) => {
          for (let wait = 0; wait < 2 * index; wait += 1) await store.readFreezes();
          return { turn, ...(await (stores[index] ?? store).startEffect(turn, effectStart('call-1'))) };
        }),
      ),
    ]);
    const begun = starts.filter(({ outcome }) => outcome === 'started').map(({ id }) => id);
    expect(told.requestIds.filter((id) => ids.includes(id)).sort()).toEqual(begun.sort());
    const threads = effects.filter(({ outcome }) => outcome === 'started').map(({ turn }) => turn.threadId);
    const named = told.effects.map(({ threadId }) => threadId);
    expect(named.filter((id) => turns.some(({ threadId }) => threadId === id)).sort()).toEqual(
      threads.sort(),
    );
    for (const { outcome } of [...starts, ...effects]) seen.add(outcome);
    await store.unfreeze(unfreezeVote('*'));
    for (const { id } of starts.filter(({ outcome }) => outcome === 'frozen'))
      expect(await store.start(id, attempt('second'))).toMatchObject({ outcome: 'started', tries: 1 });
    for (const turn of turns) await store.suspend(turn, { messages: [], read: 0 });
  }
  expect([...seen].sort()).toEqual(['frozen', 'started']);
});

test(`of ${CONTENDERS} actions at the edge of a limit never one too many starts, and what did not start leaves its place (${ROUNDS} rounds)`, async () => {
  const ends = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const use = { key: `edge-${round}`, amount: 10, max: 10 * (1 + (round % 7)), windowMs: MINUTE_MS };
    const ids = await Promise.all(
      stores.map(async (each, index) => {
        const id = await ask(each);
        // Every third was not approved, so it does not start and counts nothing.
        if (index % 3 > 0) await each.vote(id, approve('U-ann'));
        return id;
      }),
    );
    const results = await atOnce(round, async (each, index) => {
      const id = ids[index] ?? '';
      const tries = await Promise.all(
        // Two processes look after each action.
        ['first', 'second'].map(async (name) => {
          const counts = { action: id, limits: [use] };
          return (await each.start(id, attempt(name, { counts }))).outcome;
        }),
      );
      for (const end of tries) ends.add(end);
      return tries.filter((end) => end === 'started').length;
    });
    const started = results.reduce((sum, count) => sum + count, 0);
    expect(10 * started).toBeLessThanOrEqual(use.max);
    expect(await store.readTotals([use])).toEqual([{ count: started, sum: 10 * started }]);
    // Whoever comes later finds the places that are left, and no more.
    const late = await Promise.all(ids.map((id) => store.countCall('T-late', { ref: id, limits: [use] })));
    const free = use.max / 10 - started;
    expect(late.filter(({ outcome }) => outcome === 'counted')).toHaveLength(free);
  }
  expect([...ends].sort()).toEqual(['not-approved', 'over', 'settled', 'started']);
});

test(`of ${CONTENDERS} calls for the last uses of a grant, and against its revocation, never one too many runs (${ROUNDS} rounds)`, async () => {
  const ends = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `g-${round}`;
    const uses = 1 + (round % 5);
    await openGrant(store, { id, uses });
    const isRevoked = round % 2 === 0;
    const [revoked, results] = await Promise.all([
      isRevoked ? revokeSoon(id, round % 8) : undefined,
      atOnce(round, async (each, index) => {
        for (let wait = 0; wait < index % 6; wait += 1) await each.readFreezes();
        // Two processes try the same call, which takes one use.
        const call = `call-${index}`;
        const grant = { id, call, evidence: {} };
        const tries = await Promise.all([0, 1].map(() => each.countCall('T-1', { ref: call, grant })));
        for (const each of tries) ends.add('reason' in each ? each.reason : each.outcome);
        return tries.some(({ outcome }) => outcome === 'counted') ? 1 : 0;
      }),
    ]);
    const used = results.reduce<number>((sum, count) => sum + count, 0);
    expect(used).toBeLessThanOrEqual(uses);
    // The answer to a revocation names every use there ever is.
    expect(used).toBe(isRevoked ? revoked : uses);
    expect(await findGrant(store, id)).toMatchObject({ used });
  }
  expect([...ends].sort()).toEqual(['counted', 'revoked', 'spent']);
});

test(`of ${CONTENDERS} votes for one delegator, and against the end of the delegation, never one too many counts (${ROUNDS} rounds)`, async () => {
  const ends = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const requestId = await ask(store, { policy: { delegation: true, quorum: CONTENDERS } });
    const from = `U-away-${round}`;
    const given = { from, until: Date.now() + MINUTE_MS, reason: '', evidence: {} };
    const stand = async (to: string, id: string) => {
      await delegationsIn(store).delegate({ ...given, id, to });
    };
    await stand('U-0', `d-${round}-0`);
    let endedAfter = -1;
    const changes = async () => {
      for (let wait = 0; wait < round % 6; wait += 1) await store.readFreezes();
      // In every other round somebody else stands for the same person from then on.
      if (round % 2 === 0) await stand('U-1', `d-${round}-1`);
      else {
        const end = { from, id: `end-${round}`, who: from, isAdmin: false, evidence: {} };
        await delegationsIn(store).end(end);
      }
      endedAfter = (await found(store, requestId)).votes.length;
    };
    const vote = async (each: Store, index: number) => {
      for (let wait = 0; wait < index % 6; wait += 1) await each.readFreezes();
      // The delegates, and the delegator too, each from several processes.
      const who = index % 3 === 2 ? from : `U-${index % 2}`;
      const standsFor = who === from ? {} : { standsFor: from };
      const { outcome } = await each.vote(requestId, approve(who, standsFor));
      ends.add(outcome);
      return outcome;
    };
    const [results] = await Promise.all([atOnce(round, vote), changes()]);
    const { votes, approvals } = await found(store, requestId);
    expect(votes.length).toBe(results.includes('voted') ? 1 : 0);
    expect(approvals).toBe(votes.length);
    // The answer to the end comes after the last vote that the delegation has signed.
    const signed = votes.filter(({ standsFor, who }) => standsFor === from && who === 'U-0').length;
    expect(signed).toBeLessThanOrEqual(endedAfter);
    const late = await store.vote(requestId, approve('U-0', { standsFor: from }));
    expect(late.outcome === 'voted').toBe(signed === 1);
  }
  expect([...ends].sort()).toEqual(['not-delegated', 'represented', 'voted']);
});

async function revokeSoon(id: string, waits: number): Promise<number> {
  for (let wait = 0; wait < waits; wait += 1) await store.readFreezes();
  const revoked = await store.revokeGrant(id, actor('U-ann'));
  return revoked.outcome === 'revoked' ? revoked.used : -1;
}
