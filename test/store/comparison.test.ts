import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTestRedis, type TestRedis } from '../support/redis.ts';
import { commands } from './comparison/commands.ts';
import { play } from './comparison/play.ts';

const runs = Number(process.env.COUNTERSIGN_COMPARISON_RUNS ?? 1_000);
const seed = Number(process.env.COUNTERSIGN_COMPARISON_SEED ?? Date.now() % 1_000_000_000);
const timeout = 60_000 + runs * 500;
/** What the verbs can say, where it takes more than an unknown id or a call that comes too late. */
const ANSWERS = [
  ...['put put', 'put duplicate', 'renew renewed', 'renew stale'],
  ...['take taken', 'take busy', 'take waiting', 'take idle'],
  ...['suspend suspended', 'suspend stale', 'suspend existing-request'],
  ...['vote voted pending', 'vote voted approved', 'vote voted rejected', 'vote already-voted'],
  ...['vote not-an-approval', 'vote not-eligible', 'vote own-request', 'vote not-as-shown', 'vote expired'],
  ...['answer answered', 'answer is-an-approval', 'answer not-eligible', 'answer expired'],
  ...['withdraw withdrawn', 'withdraw not-yours', 'supersede superseded', 'supersede settled started'],
  ...['start started', 'start superseded', 'start not-approved pending', 'start settled started'],
  ...['beat beaten', 'beat lost approved', 'finish finished succeeded', 'finish finished failed'],
  ...['finish stale approved', 'recover retry', 'recover unknown-outcome', 'recover not-due'],
  ...['resolve resolved approved', 'resolve resolved resolved', 'resolve not-unknown started'],
  ...['expire expired', 'expire not-due', 'remind reminded', 'remind not-due', 'escalate escalated'],
  ...['purge purged', 'purge not-due', 'purge not-settled', 'retire retired', 'retire in-use'],
  ...['takeOutbox something', 'doneRow done', 'doneRow stale', 'doneView done', 'doneView due-again'],
  ...['doneView stale', 'retryOutbox later', 'retryOutbox stale'],
];
/** How many sequences are played at a time: while one waits for Redis, another goes on. */
const LANES = 4;

let redis: TestRedis;
beforeAll(() => {
  redis = connectTestRedis();
});
afterAll(() => redis.close(), 60_000);

const answers = new Set<string>();

test(
  `in ${runs} random sequences of calls the scripts answer and write what the model does`,
  async () => {
    const lane = async (number: number) => {
      let played = 0;
      const sequences = fc.asyncProperty(commands, async (sequence) => {
        played += 1;
        await play(sequence, {
          client: redis.client,
          prefix: `${redis.prefix}${number}-${played}:`,
          verify: played % 10 === 0,
          onAnswer: (answer) => answers.add(answer),
        });
      });
      // A failure prints its seed and the smallest sequence that fails; COUNTERSIGN_COMPARISON_SEED takes the seed back.
      await fc.assert(sequences, { numRuns: Math.ceil(runs / LANES), seed: seed + number });
    };
    const ends = await Promise.allSettled([...Array(LANES).keys()].map(lane));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  },
  timeout,
);

test('the sequences come upon every answer that the verbs have', () => {
  expect(ANSWERS.filter((answer) => !answers.has(answer))).toEqual([]);
});
