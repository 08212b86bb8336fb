import { CALLER_RECIPES } from '../world/errand.ts';
import { NOTICE_MS } from '../world/start-world.ts';
import type { Cell } from './cell.ts';
import { atEveryPoint } from './failpoints.ts';

/** The points of a request's way, from the door to its end; not those that an idle worker passes. */
const ON_THE_WAY =
  /^(?:script (?:write-document|count-call|enqueue|claim-turn|suspend|retire|vote|start|finish|end|recover|resolve)|effect|slack chat)/;
/** Each caller sends requests all the time, so that fewer of them keep the machine busy. */
const IN_FLIGHT = 10;

/** A worker dies at the points of the requests of callers, and so do the callers themselves. `rounds` is the number of killed workers. */
export const CALLER_CELLS: readonly Cell[] = [
  {
    name: 'callers: worker and caller killed',
    rounds: { long: 500, short: 4 },
    world: { workers: 3, logLevel: 'info', noticeMs: NOTICE_MS, silentIsDead: true },
    // A caller that dies between its start and its effect has run nothing.
    leastExecuted: 0.5,
    play: (world, kills) =>
      atEveryPoint('kill', kills, CALLER_RECIPES, {
        inFlight: IN_FLIGHT,
        where: ON_THE_WAY,
      })(world, kills),
  },
];
