import { expect, test } from 'vitest';
import { PendingLimiter } from '../../src/engine/pending-limiter.ts';

/** A limiter on a record in which so many requests wait, and a clock that stands until it is moved. */
function limiterOn(waiting: Record<string, number>) {
  const clock = { now: 1_000 };
  const reads: string[] = [];
  const list = async (_name: string, [person = '']: readonly string[]) => {
    reads.push(person);
    const count = waiting[person];
    if (count === undefined) throw new Error('Redis is gone');
    return { requestIds: Array.from({ length: count }, String), next: undefined };
  };
  return { limiter: new PendingLimiter({ list }, () => clock.now), clock, reads, waiting };
}

test('what was asked since the count was read counts as well', async () => {
  const { limiter, reads } = limiterOn({ rita: 3 });
  expect(await limiter.admit('rita', 4, 10)).toEqual({ admitted: 4, waiting: 3 });
  expect(await limiter.admit('rita', 4, 10)).toEqual({ admitted: 3, waiting: 7 });
  expect(await limiter.admit('rita', 1, 10)).toEqual({ admitted: 0, waiting: 10 });
  expect(reads).toEqual(['rita']);
});

test('turns that ask at the same moment share one count and together stay under the limit', async () => {
  const { limiter, reads } = limiterOn({ rita: 0 });
  const admissions = await Promise.all(Array.from({ length: 5 }, () => limiter.admit('rita', 2, 7)));
  expect(admissions.map(({ admitted }) => admitted)).toEqual([2, 2, 2, 1, 0]);
  expect(reads).toEqual(['rita']);
});

test('a count that leaves no room is read again after five seconds, and what was decided meanwhile has made room', async () => {
  const { limiter, clock, reads, waiting } = limiterOn({ rita: 9 });
  expect((await limiter.admit('rita', 1, 10)).admitted).toBe(1);
  waiting.rita = 2;
  clock.now += 4_999;
  expect((await limiter.admit('rita', 1, 10)).admitted).toBe(0);
  clock.now += 1;
  expect(await limiter.admit('rita', 1, 10)).toEqual({ admitted: 1, waiting: 2 });
  expect(reads).toEqual(['rita', 'rita']);
});

test('a count that leaves room is used for a minute', async () => {
  const { limiter, clock, reads } = limiterOn({ rita: 1 });
  expect((await limiter.admit('rita', 1, 10)).admitted).toBe(1);
  clock.now += 59_999;
  expect(await limiter.admit('rita', 1, 10)).toEqual({ admitted: 1, waiting: 2 });
  expect(reads).toEqual(['rita']);
  clock.now += 1;
  await limiter.admit('rita', 1, 10);
  expect(reads).toEqual(['rita', 'rita']);
});

test('one person does not use up the room of another', async () => {
  const { limiter } = limiterOn({ rita: 10, tom: 0 });
  expect((await limiter.admit('rita', 1, 10)).admitted).toBe(0);
  expect((await limiter.admit('tom', 1, 10)).admitted).toBe(1);
});

test('a count above the limit admits nothing and takes nothing back', async () => {
  const { limiter } = limiterOn({ rita: 30 });
  expect(await limiter.admit('rita', 2, 10)).toEqual({ admitted: 0, waiting: 30 });
  expect(await limiter.admit('rita', 2, 31)).toEqual({ admitted: 1, waiting: 30 });
});

test('a count that could not be read fails the turn and is read again at the next', async () => {
  const { limiter, waiting } = limiterOn({});
  await expect(limiter.admit('rita', 1, 10)).rejects.toThrow('Redis is gone');
  waiting.rita = 0;
  expect((await limiter.admit('rita', 1, 10)).admitted).toBe(1);
});

test('a request of a caller that has ended makes room at once; what was admitted and is not on record yet still counts', async () => {
  const { limiter, waiting, reads } = limiterOn({ 'caller:job': 0 });
  const request = {
    ...{
      requestId: 'r',
      threadId: `C1:caller.job.${'0'.repeat(32)}`,
      kind: 'approval',
      tool: 't',
      policy: 'p',
    },
    ...{ requester: 'rita', createdAt: 0, decidedAt: undefined, trace: undefined },
  };
  const report = (event: string) =>
    limiter.follow({ events: [{ event, subject: 'r', detail: '', at: 0, request }] });
  expect((await limiter.admit('caller:job', 2, 2)).admitted).toBe(2);
  report('asked');
  waiting['caller:job'] = 1;
  expect((await limiter.admit('caller:job', 1, 2)).admitted).toBe(0);
  report('withdrawn');
  waiting['caller:job'] = 0;
  expect(await limiter.admit('caller:job', 2, 2)).toEqual({ admitted: 1, waiting: 1 });
  expect(reads).toHaveLength(2);
});
