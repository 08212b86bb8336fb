import { MODEL_IN_TURN } from './cells/model-faults.ts';
import { REDIS_IN_TURN } from './cells/redis-faults.ts';
import { SLACK_IN_TURN } from './cells/slack-faults.ts';
import { playMatrix } from './play-matrix.ts';

// Beside the other two, because each waits more than it computes.
playMatrix([...REDIS_IN_TURN, SLACK_IN_TURN, MODEL_IN_TURN]);
