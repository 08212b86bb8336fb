import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cell } from './cells/cell.ts';
import { keepBusy } from './cells/keep-busy.ts';
import { INVARIANTS } from './check/invariants.ts';
import { playCell } from './play-cell.ts';
import { DEFECTS } from './worker/defects.ts';
import { buildWorker } from './world/build-worker.ts';
import { CALLER_RECIPES, RECIPES } from './world/errand.ts';
import { NOTICE_MS } from './world/start-world.ts';

const ALL_RECIPES = [...RECIPES, ...CALLER_RECIPES];
let built: string;
beforeAll(async () => {
  built = await buildWorker();
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** Plays these errands once each, without any fault, with a model that thinks long enough for the sweep to come by. */
function withoutFaults(kinds: readonly string[], timing: { readonly noticeMs?: number } = {}): Cell {
  return {
    name: 'no fault',
    rounds: { long: 1, short: 1 },
    world: { workers: 1, ...timing },
    // On a busy machine a caller's start may be answered so late that the caller does not act on it.
    leastExecuted: 0.9,
    play: async (world) => {
      world.failing.thinksForMs = 1_000;
      const recipes = ALL_RECIPES.filter(({ kind }) => kinds.includes(kind));
      const until = (begun: number) => begun >= recipes.length;
      return { errands: await keepBusy(world, { inFlight: recipes.length, until, recipes }), rounds: 1 };
    },
  };
}

test('where nothing is wrong nothing is found', async () => {
  const everything = withoutFaults(ALL_RECIPES.map(({ kind }) => kind));
  expect((await playCell(everything, { built, rounds: 1 })).violations).toEqual([]);
});

test.each(Object.entries(DEFECTS).map(([defect, { breaks, errand }]) => ({ defect, breaks, errand })))(
  'the defect "$defect" is caught as a breach of promise $breaks',
  async ({ defect, breaks, errand }) => {
    const { violations } = await playCell(withoutFaults([errand], { noticeMs: NOTICE_MS }), {
      built,
      rounds: 1,
      defect,
      settleWithinMs: 20_000,
    });
    expect(violations.map(({ invariant }) => INVARIANTS[invariant])).toContain(INVARIANTS[breaks]);
  },
);
