import { expect, test } from 'vitest';
import { PendingBrake } from '../../../src/bot/requests/pending-brake.ts';

/** A brake on a record in which so many requests wait, and a clock that stands until it is moved. */
function brakeOn(waiting: Record<string, number>) {
  const clock = { now: 1_000 };
  const reads: string[] = [];
  const countPending = async (person: string) => {
    reads.push(person);
    const count = waiting[person];
    if (count === undefined) throw new Error('Redis is gone');
    return count;
  };
  return { brake: new PendingBrake({ countPending }, () => clock.now), clock, reads, waiting };
}

test('what was asked since the count was read counts as well', async () => {
  const { brake, reads } = brakeOn({ rita: 3 });
  expect(await brake.take('rita', 4, 10)).toEqual({ granted: 4, waiting: 3 });
  expect(await brake.take('rita', 4, 10)).toEqual({ granted: 3, waiting: 7 });
  expect(await brake.take('rita', 1, 10)).toEqual({ granted: 0, waiting: 10 });
  expect(reads).toEqual(['rita']);
});

test('turns that ask at the same moment share one count and together stay under the limit', async () => {
  const { brake, reads } = brakeOn({ rita: 0 });
  const grants = await Promise.all(Array.from({ length: 5 }, () => brake.take('rita', 2, 7)));
  expect(grants.map(({ granted }) => granted)).toEqual([2, 2, 2, 1, 0]);
  expect(reads).toEqual(['rita']);
});

test('after five seconds the record is asked again, and what was decided meanwhile has made room', async () => {
  const { brake, clock, reads, waiting } = brakeOn({ rita: 9 });
  expect((await brake.take('rita', 1, 10)).granted).toBe(1);
  waiting.rita = 2;
  clock.now += 4_999;
  expect((await brake.take('rita', 1, 10)).granted).toBe(0);
  clock.now += 1;
  expect(await brake.take('rita', 1, 10)).toEqual({ granted: 1, waiting: 2 });
  expect(reads).toEqual(['rita', 'rita']);
});

test('one person does not use up the room of another', async () => {
  const { brake } = brakeOn({ rita: 10, tom: 0 });
  expect((await brake.take('rita', 1, 10)).granted).toBe(0);
  expect((await brake.take('tom', 1, 10)).granted).toBe(1);
});

test('a count above the limit grants nothing and takes nothing back', async () => {
  const { brake } = brakeOn({ rita: 30 });
  expect(await brake.take('rita', 2, 10)).toEqual({ granted: 0, waiting: 30 });
  expect(await brake.take('rita', 2, 31)).toEqual({ granted: 1, waiting: 30 });
});

test('a count that could not be read fails the turn and is read again at the next', async () => {
  const { brake, waiting } = brakeOn({});
  await expect(brake.take('rita', 1, 10)).rejects.toThrow('Redis is gone');
  waiting.rita = 0;
  expect((await brake.take('rita', 1, 10)).granted).toBe(1);
});
