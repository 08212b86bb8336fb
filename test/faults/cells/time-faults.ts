import { setTimeout as sleep } from 'node:timers/promises';
import type { Cell } from './cell.ts';
import { keepBusy } from './keep-busy.ts';
import { type Strike, striking } from './strike.ts';

const DAY_MS = 86_400_000;
const ERRANDS_A_ROUND = 10;

/** Every worker in turn is asked to end, as a deployment does, and another takes its place. */
const restartAll: Strike = async ({ workers }) => {
  for (const worker of [...workers]) {
    worker.end();
    await worker.gone;
    await sleep(50);
  }
};

/** Clocks that are wrong, and processes that are exchanged. */
export const TIME_CELLS: readonly Cell[] = [
  {
    name: 'clocks a day ahead and a day behind',
    rounds: { long: 50, short: 2 },
    world: { workers: 3, clockAheadMs: (index) => [0, DAY_MS, -DAY_MS][index % 3] ?? 0 },
    leastExecuted: 1,
    play: async (world, rounds) => {
      const meant = rounds * ERRANDS_A_ROUND;
      return { errands: await keepBusy(world, { inFlight: 30, until: (begun) => begun >= meant }), rounds };
    },
  },
  {
    name: 'rolling restart',
    rounds: { long: 50, short: 2 },
    world: { workers: 2 },
    play: striking(restartAll),
  },
];
