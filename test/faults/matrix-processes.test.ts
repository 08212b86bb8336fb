import { CELLS, SERVICE_CELLS } from './cells/cells.ts';
import { ALL_CROWDS, CROWD_CELLS } from './cells/crowds.ts';
import { FAILPOINT_CELLS } from './cells/failpoints.ts';
import { playMatrix } from './play-matrix.ts';

const elsewhere = [...SERVICE_CELLS, ...FAILPOINT_CELLS, ...CROWD_CELLS];

// Beside the other two, because each waits more than it computes.
playMatrix([ALL_CROWDS, ...CELLS.filter((cell) => !elsewhere.includes(cell))]);
