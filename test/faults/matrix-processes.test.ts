import { CELLS, SERVICE_CELLS } from './cells/cells.ts';
import { FAILPOINT_CELLS } from './cells/failpoints.ts';
import { playMatrix } from './play-matrix.ts';

// Beside the other two, because each waits more than it computes.
playMatrix(CELLS.filter((cell) => !SERVICE_CELLS.includes(cell) && !FAILPOINT_CELLS.includes(cell)));
