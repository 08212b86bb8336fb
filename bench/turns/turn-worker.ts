import { fork } from 'node:child_process';
import { nextMessage } from '../support/node-process.ts';
import { type Batch, BatchResult } from './batch.ts';

export interface TurnWorker {
  readonly pid: number | undefined;
  run(batch: Batch): Promise<BatchResult>;
  stop(): void;
}

/** Starts a worker from its compiled file. It runs one batch at a time and never outlives the bench. */
export async function startTurnWorker(file: string): Promise<TurnWorker> {
  const child = fork(file);
  await nextMessage(child);
  return {
    pid: child.pid,
    async run(batch) {
      const result = nextMessage(child);
      child.send(batch);
      return BatchResult.parse(await result);
    },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
}
