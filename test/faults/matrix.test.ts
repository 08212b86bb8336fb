import { isFull } from '../support/count-for.ts';
import { CELLS, SERVICE_CELLS } from './cells/cells.ts';
import { FEW_KILLS } from './cells/failpoints.ts';
import { playMatrix } from './play-matrix.ts';

// The quick form plays a few kills, the full form every fault of the bot's own processes.
playMatrix(isFull ? CELLS.filter((cell) => !SERVICE_CELLS.includes(cell)) : [FEW_KILLS]);
