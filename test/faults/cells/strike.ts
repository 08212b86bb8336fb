import { setTimeout as sleep } from 'node:timers/promises';
import { RECIPES, type Recipe } from '../world/errand.ts';
import type { World } from '../world/start-world.ts';
import type { Cell, Played } from './cell.ts';
import { keepBusy } from './keep-busy.ts';

const IN_FLIGHT = 30;
/** After a fault so many threads come to their end before the next one; on nothing else is a round's length set. */
const ENDS_BETWEEN = 6;
const LONGEST_ROUND_MS = 30_000;

/** A fault that strikes a world which is at work, and is over when this resolves. */
export type Strike = (world: World, round: number) => Promise<unknown>;

/** Strikes again and again while many threads are on their way. */
export function striking(strike: Strike, recipes: readonly Recipe[] = RECIPES) {
  return async (world: World, rounds: number): Promise<Played> => {
    let isOver = false;
    // A few rounds need few threads, and the tests have little time.
    const inFlight = Math.min(IN_FLIGHT, 2 * ENDS_BETWEEN * rounds);
    const busy = keepBusy(world, { inFlight, until: () => isOver, recipes });
    // The first cards are on their way.
    await sleep(500);
    for (let round = 0; round < rounds; round += 1) {
      const finished = world.people.finished.size;
      await strike(world, round);
      const end = Date.now() + LONGEST_ROUND_MS;
      while (world.people.finished.size < finished + ENDS_BETWEEN && Date.now() < end) await sleep(25);
    }
    isOver = true;
    return { errands: await busy, rounds };
  };
}

/** Plays several faults in one world, one after the other: the tests have no time for a world each. */
export function inTurn(name: string, strikes: Readonly<Record<string, Strike>>): Cell {
  const all = Object.values(strikes);
  const strike: Strike = async (world, round) => all[round % all.length]?.(world, round);
  const world = { workers: 2 };
  return { name, rounds: { long: 10 * all.length, short: all.length }, world, play: striking(strike) };
}
