import type { Cell } from './cell.ts';
import { FAILPOINT_CELLS } from './failpoints.ts';

/** The whole matrix, in the order of its table. */
export const CELLS: readonly Cell[] = [...FAILPOINT_CELLS];
