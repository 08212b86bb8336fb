import { PLAN_RECIPES } from '../world/errand.ts';
import { NOTICE_MS } from '../world/start-world.ts';
import type { Cell } from './cell.ts';
import { atEveryPoint } from './failpoints.ts';

/** The points between the steps of a plan: before and after each script that moves it, and each effect. */
const BOUNDARIES = /^(?:script (?:vote|start|finish|end|recover|resolve)|effect):/;

/** A worker dies at every boundary of the steps of a plan. `rounds` is how often at each. */
export const PLAN_CELLS: readonly Cell[] = [
  {
    name: 'plan of five: worker killed, at every step boundary',
    rounds: { long: 200, short: 1 },
    world: { workers: 4, logLevel: 'info', noticeMs: NOTICE_MS, silentIsDead: true },
    leastExecuted: 0.7,
    play: atEveryPoint('kill', Number.POSITIVE_INFINITY, PLAN_RECIPES, { where: BOUNDARIES }),
  },
];
