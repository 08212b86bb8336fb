import type { Violation } from '../check/invariants.ts';
import type { World } from '../world/start-world.ts';
import type { Cell, Played } from './cell.ts';
import { keepBusy, letSettle } from './keep-busy.ts';

const SETTLE_WITHIN_MS = 300_000;
const WINDOWS = 6;
const FULL_AFTER = 4;
const IN_FLIGHT = 60;
/** The variation of a worker's memory that still counts as flat. */
const WAVERING = 1.15;

/** Everybody asks at once. How soon Slack's deliveries are acknowledged then is a measure of the machine, for the bench; what must hold is the rest. */
async function allAtOnce(world: World, threads: number): Promise<Played> {
  const errands = await keepBusy(world, { inFlight: threads, until: (begun) => begun >= threads });
  await letSettle(world, SETTLE_WITHIN_MS);
  const { deliveries } = world.workspace;
  const first = deliveries.filter(
    ({ outcome, attempts }) => outcome.kind === 'acknowledged' && attempts.length === 1,
  );
  return {
    errands,
    rounds: threads,
    remark: `${first.length} of ${deliveries.length} deliveries acknowledged at the first try`,
  };
}

/** An hour of traffic as fast as it goes; once the caches of a worker are full, with 5,000 threads, it does not grow any more. */
async function anHour(world: World, threads: number): Promise<Played> {
  const held: number[] = [];
  const errands = [];
  for (let window = 1; window <= WINDOWS; window += 1) {
    const meant = Math.ceil(threads / WINDOWS);
    errands.push(...(await keepBusy(world, { inFlight: IN_FLIGHT, until: (begun) => begun >= meant })));
    await letSettle(world, SETTLE_WITHIN_MS);
    const memory = await Promise.all([...world.workers].map((worker) => worker.memory()));
    held.push(Math.max(...memory.map(({ heapUsed }) => heapUsed)) / 2 ** 20);
  }
  const [full = 0, last = 0] = [held[FULL_AFTER - 1], held.at(-1)];
  const told = held.map((megabytes) => megabytes.toFixed(1)).join(', ');
  const violations: Violation[] =
    last > full * WAVERING ? [{ invariant: 9, what: `a worker's heap grew, in MiB: ${told}` }] : [];
  return {
    errands,
    rounds: threads,
    violations,
    remark: `heap of the larger worker after each sixth, in MiB: ${told}`,
  };
}

const world = { workers: 2, logLevel: 'info' };

/** Much work and no fault. */
export const LOAD_CELLS: readonly Cell[] = [
  {
    name: 'load: 1,000 threads at once',
    rounds: { long: 1_000, short: 60 },
    world,
    leastExecuted: 1,
    play: allAtOnce,
  },
  {
    name: 'load: an hour of traffic',
    rounds: { long: 9_000, short: 120 },
    world,
    leastExecuted: 1,
    play: anHour,
  },
];
