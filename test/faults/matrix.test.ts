import { isFull } from '../support/count-for.ts';
import { FAILPOINT_CELLS, FEW_KILLS } from './cells/failpoints.ts';
import { playMatrix } from './play-matrix.ts';

// The quick form plays a few kills, the full form a fault at every point.
playMatrix(isFull ? FAILPOINT_CELLS : [FEW_KILLS]);
