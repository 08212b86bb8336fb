import { openFloor } from './floor.ts';
import { openOurs } from './ours.ts';
import { serveBatches } from './serve-batches.ts';

serveBatches((batch) =>
  batch.side === 'ours' ? openOurs(batch) : openFloor({ ...batch, isStreaming: batch.side === 'floor' }),
);
