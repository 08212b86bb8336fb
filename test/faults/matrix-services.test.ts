import { SERVICE_CELLS } from './cells/cells.ts';
import { playMatrix } from './play-matrix.ts';

// Beside the other two, because each waits more than it computes.
playMatrix(SERVICE_CELLS);
