import type { Violation } from '../check/invariants.ts';
import type { Errand } from '../world/errand.ts';
import type { World, WorldOptions } from '../world/start-world.ts';

/** The result of a cell. */
export interface Played {
  readonly errands: readonly Errand[];
  /** The number of faults. */
  readonly rounds: number;
  /** Problems that the cell itself found, beside the promises. */
  readonly violations?: readonly Violation[];
  /** The number of failures at each point, those of earlier sittings too. */
  readonly tally?: ReadonlyMap<string, number>;
  /** Further remarks. */
  readonly remark?: string;
}

/** One kind of fault, played against a world of its own. */
export interface Cell {
  readonly name: string;
  /** The rounds of the long run, and of the tests. */
  readonly rounds: { readonly long: number; readonly short: number };
  readonly world: Omit<WorldOptions, 'built'>;
  /** The share of approved actions that must run all the same; 0.95 by default. */
  readonly leastExecuted?: number;
  readonly play: (world: World, rounds: number) => Promise<Played>;
}
