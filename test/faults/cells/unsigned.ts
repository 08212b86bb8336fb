import { setTimeout as sleep } from 'node:timers/promises';
import { UNSIGNED_RECIPES } from '../world/errand.ts';
import { NOTICE_MS } from '../world/start-world.ts';
import type { Cell } from './cell.ts';
import { atEveryPoint } from './failpoints.ts';
import { type Strike, striking } from './strike.ts';

const world = { workers: 4, logLevel: 'info', noticeMs: NOTICE_MS };

/** One worker is asked to end, as a deployment does, and another takes its place. */
const endOne: Strike = async ({ workers }) => {
  const [worker] = workers;
  worker?.end();
  await worker?.gone;
  await sleep(50);
};

/** The faults of a process in the middle of calls that need no approval. `rounds` is the number of faults. */
export const UNSIGNED_CELLS: readonly Cell[] = [
  {
    name: 'unsigned: worker killed',
    rounds: { long: 500, short: 5 },
    world: { ...world, silentIsDead: true },
    leastExecuted: 0.7,
    play: (inWorld, kills) => atEveryPoint('kill', kills, UNSIGNED_RECIPES)(inWorld, kills),
  },
  {
    name: 'unsigned: worker stopped past its lease',
    rounds: { long: 100, short: 3 },
    world,
    leastExecuted: 0.7,
    play: (inWorld, stops) => atEveryPoint('stop', stops, UNSIGNED_RECIPES)(inWorld, stops),
  },
  {
    name: 'unsigned: worker ended by SIGTERM',
    rounds: { long: 50, short: 2 },
    world: { workers: 2 },
    play: striking(endOne, UNSIGNED_RECIPES),
  },
];
