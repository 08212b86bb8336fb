import type { FaultAction } from '../worker/fault-messages.ts';
import { RECIPES, type Recipe } from '../world/errand.ts';
import { NOTICE_MS, type World } from '../world/start-world.ts';
import type { Cell, Played } from './cell.ts';
import { keepBusy } from './keep-busy.ts';
import { Saboteur } from './saboteur.ts';

/** So many threads are on their way at once; once through all points needs fewer. */
const IN_FLIGHT = { many: 30, once: 12 };
/** When no point that is still missing has failed for so long, no errand leads there. */
const GIVE_UP_MS = 30_000;
const TELL_EVERY_MS = 60_000;
/** So many of about 60 points are played by the tests, where each is played once. */
const MOST_POINTS = 45;

/** `rounds` is how often each point fails; every point that the errands lead to is played. */
export function atEveryPoint(
  action: FaultAction,
  most = Number.POSITIVE_INFINITY,
  recipes: readonly Recipe[] = RECIPES,
  { where, inFlight: own }: { readonly where?: RegExp; readonly inFlight?: number } = {},
) {
  return async (world: World, atEach: number): Promise<Played> => {
    const saboteur = new Saboteur(world, { action, atEach, ...(where !== undefined && { where }) });
    const inFlight = own ?? (atEach === 1 ? IN_FLIGHT.once : IN_FLIGHT.many);
    let count = 0;
    let progressAt = Date.now();
    let toldAt = Date.now();
    const until = (begun: number): boolean => {
      saboteur.step();
      if (saboteur.count > count) progressAt = Date.now();
      count = saboteur.count;
      if (Date.now() - toldAt > TELL_EVERY_MS) {
        toldAt = Date.now();
        world.run.onProgress(describeProgress(saboteur));
      }
      if (count >= most || Date.now() > world.run.endsAt) return true;
      // A few errands first, so that the points are known.
      return begun > 2 * inFlight && (saboteur.missing.length === 0 || Date.now() - progressAt > GIVE_UP_MS);
    };
    const errands = await keepBusy(world, { inFlight, until, recipes });
    saboteur.rest();
    const points = [...saboteur.tally].toSorted(([, left], [, right]) => left - right);
    const [least] = points;
    const missing = saboteur.missing.map((point) => `${point} ${saboteur.tally.get(point) ?? 0}`);
    const remark = `${points.length} points, at least ${least?.[1] ?? 0} at each${missing.length > 0 ? `; fewer than meant: ${missing.join(', ')}` : ''}`;
    return { errands, rounds: saboteur.count, remark, tally: saboteur.tally };
  };
}

function describeProgress({ count, missing, tally }: Saboteur): string {
  const rarest = missing
    .map((point) => [point, tally.get(point) ?? 0] as const)
    .toSorted(([, left], [, right]) => left - right)
    .slice(0, 5);
  const words = rarest.map(([point, times]) => `${point} ${times}`).join(', ');
  return `${count} faults, ${missing.length} points to go: ${words}`;
}

const world = { workers: 4, logLevel: 'info', noticeMs: NOTICE_MS };

/** A worker dies before and after every script, effect and call. */
const killed: Cell = {
  name: 'worker killed, at every point',
  rounds: { long: 50, short: 1 },
  world: { ...world, silentIsDead: true },
  // The tests do not wait for the points that come seldom.
  play: (inWorld, rounds) => atEveryPoint('kill', rounds === 1 ? MOST_POINTS : undefined)(inWorld, rounds),
};

/** The same at a few points, whichever come first; of so few actions one that people give up is more than a few per cent. */
export const FEW_KILLS: Cell = {
  ...killed,
  name: 'worker killed a few times',
  leastExecuted: 0.7,
  rounds: { long: 15, short: 3 },
  world: { ...killed.world, workers: 2 },
  play: (inWorld, kills) => atEveryPoint('kill', kills)(inWorld, 1),
};

/** The tests end after so many faults, whichever points come first; `npm run faults` plays every point, several times. */
const FEW = 30;
const atFewPoints =
  (action: FaultAction): Cell['play'] =>
  (inWorld, rounds) =>
    atEveryPoint(action, rounds === 1 ? FEW : undefined)(inWorld, rounds);

/** A worker dies, sleeps past its lease, or loses its connections, before and after every script, effect and call. */
export const FAILPOINT_CELLS: readonly Cell[] = [
  killed,
  { name: 'worker stopped past its lease', rounds: { long: 5, short: 1 }, world, play: atFewPoints('stop') },
  {
    name: 'connections to Redis cut',
    rounds: { long: 5, short: 1 },
    // A client that lost its connection may wait two seconds before it tries again, and is not dead.
    world: { ...world, noticeMs: 5_000 },
    play: atFewPoints('cut'),
  },
];
