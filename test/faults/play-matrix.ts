import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/patience.ts';
import type { Cell } from './cells/cell.ts';
import { LOAD_CELLS } from './cells/load.ts';
import { playCell } from './play-cell.ts';
import { buildWorker } from './world/build-worker.ts';

/** Plays a few rounds of each fault, in a world of its own; `npm run faults` plays many. */
export function playMatrix(cells: readonly Cell[]): void {
  let built: string;
  beforeAll(async () => {
    built = await buildWorker();
  });
  afterAll(() => rmSync(built, { recursive: true, force: true }));

  test.each(cells)('no promise is broken by: $name', async (cell) => {
    const { violations, effects } = await playCell(cell, {
      built,
      rounds: cell.rounds.short,
      // Of a few actions, on a machine that others use as well, people give up more than a few per cent.
      enoughExecuted: 0.7,
      // Whether it is in time says something of the code only where the machine is its own, as for `npm run faults`.
      ...(LOAD_CELLS.includes(cell) && { acknowledgementMs: PATIENCE_MS }),
    });
    expect(violations).toEqual([]);
    expect(effects).toBeGreaterThan(0);
  });
}
