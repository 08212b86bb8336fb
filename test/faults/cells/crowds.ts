import { readEffects } from '../worker/effects.ts';
import { CROWD_RECIPES } from '../world/errand.ts';
import type { Cell } from './cell.ts';
import { keepBusy } from './keep-busy.ts';

/** On a slow machine everything may expire: more are asked then, until something was signed in time. */
const MOST_TIMES = 10;
/** As many as one person can look at side by side without clicking late. */
const IN_FLIGHT = 12;

/** Five people, and twenty, decide in the same millisecond, among themselves or as the time runs out, on four processes. */
export const CROWD_CELLS: readonly Cell[] = Object.entries(CROWD_RECIPES).map(([name, recipe]) => ({
  name: `${name}, on 4 processes`,
  rounds: { long: 500, short: 6 },
  world: { workers: 4 },
  // Nobody knows beforehand who wins.
  leastExecuted: 0,
  play: async (world, rounds) => ({
    errands: await keepBusy(world, {
      inFlight: IN_FLIGHT,
      until: (begun) =>
        begun >= rounds && (begun >= rounds * MOST_TIMES || readEffects(world.effectsFile).length > 0),
      recipes: [recipe],
    }),
    rounds,
  }),
}));
