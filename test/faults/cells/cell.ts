import type { Violation } from '../check/invariants.ts';
import type { Errand } from '../world/errand.ts';
import type { World, WorldOptions } from '../world/start-world.ts';

/** What a cell did to its world. */
export interface Played {
  readonly errands: readonly Errand[];
  /** How often the fault struck. */
  readonly rounds: number;
  /** What the cell itself found wrong, beside the promises. */
  readonly violations?: readonly Violation[];
  /** What else is worth telling. */
  readonly remark?: string;
}

/** One kind of fault, played against a world of its own. */
export interface Cell {
  readonly name: string;
  /** How often it strikes in the long run, and in the tests. */
  readonly rounds: { readonly long: number; readonly short: number };
  readonly world: Omit<WorldOptions, 'built'>;
  /** What part of the approved actions must be carried out all the same; 0.95 unless it says otherwise. */
  readonly leastExecuted?: number;
  readonly play: (world: World, rounds: number) => Promise<Played>;
}
