import { readEffects } from '../worker/effects.ts';
import { CROWD_RECIPES, type Recipe } from '../world/errand.ts';
import type { Cell } from './cell.ts';
import { keepBusy } from './keep-busy.ts';

/** On a slow machine everything may expire: more are asked then, until something was signed in time. */
const MOST_TIMES = 10;
/** As many as one person can look at side by side without clicking late. */
const IN_FLIGHT = 12;

/** People decide in the same millisecond, among themselves or as the time runs out, on four processes. */
const crowd = (name: string, recipes: readonly Recipe[]): Cell => ({
  name: `${name}, on 4 processes`,
  rounds: { long: 500, short: 6 * recipes.length },
  world: { workers: 4 },
  // Nobody knows beforehand who wins.
  leastExecuted: 0,
  play: async (world, rounds) => ({
    errands: await keepBusy(world, {
      inFlight: IN_FLIGHT,
      until: (begun) =>
        begun >= rounds && (begun >= rounds * MOST_TIMES || readEffects(world.effectsFile).length > 0),
      recipes,
    }),
    rounds,
  }),
});

/** Five people, and twenty. */
export const CROWD_CELLS: readonly Cell[] = Object.entries(CROWD_RECIPES).map(([name, recipe]) =>
  crowd(name, [recipe]),
);

/** The same in one world: the tests have no time for a world each. */
export const ALL_CROWDS = crowd('five and twenty at once and as it expires', Object.values(CROWD_RECIPES));
