import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cell } from './cells/cell.ts';
import { CROWD_CELLS } from './cells/crowds.ts';
import { DELIVERY_CELLS } from './cells/deliveries.ts';
import { KILLS } from './cells/failpoints.ts';
import { LOAD_CELLS } from './cells/load.ts';
import { MODEL_STRIKES } from './cells/model-faults.ts';
import { REDIS_STRIKES } from './cells/redis-faults.ts';
import { SLACK_STRIKES } from './cells/slack-faults.ts';
import { striking } from './cells/strike.ts';
import { playCell } from './play-cell.ts';
import { buildWorker } from './world/build-worker.ts';

let built: string;
beforeAll(async () => {
  built = await buildWorker();
}, 60_000);
afterAll(() => rmSync(built, { recursive: true, force: true }));

const strikes = Object.values({ ...REDIS_STRIKES, ...SLACK_STRIKES, ...MODEL_STRIKES });

/** The short form: every fault once, in one world; `npm run faults` plays each in a world of its own, many times. */
const once: Cell = {
  name: 'every fault once',
  rounds: { long: strikes.length, short: strikes.length },
  world: { workers: 2 },
  leastExecuted: 0.5,
  play: striking(async (world, round) => strikes[round]?.(world, round)),
};

const [copies] = DELIVERY_CELLS;
const cells = [
  once,
  KILLS,
  ...(copies === undefined ? [] : [copies]),
  ...CROWD_CELLS.slice(0, 1),
  ...LOAD_CELLS.slice(0, 1),
];

test.each(cells)(
  'no promise is broken by: $name',
  async (cell) => {
    const { violations, effects } = await playCell(cell, { built, rounds: cell.rounds.short });
    expect(violations).toEqual([]);
    expect(effects).toBeGreaterThan(0);
  },
  240_000,
);
