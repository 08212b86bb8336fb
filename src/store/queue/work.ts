import { z } from 'zod';
import type { WorkHandlers, Work as WorkType } from '../port/engine.ts';
import { shardOf, threadOf } from '../record/keys.ts';

/** The data of a job: ids and nothing else. */
export const Work: z.ZodType<WorkType> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('thread'), threadId: z.string() }),
  z.strictObject({ kind: z.literal('run'), requestId: z.string() }),
  z.strictObject({ kind: z.literal('outbox'), shard: z.number().int() }),
  z.strictObject({
    kind: z.literal('timer'),
    timer: z.enum(['expire', 'remind', 'escalate', 'recover', 'purge', 'retire', 'undo']),
    id: z.string(),
  }),
]);
export type Work = WorkType;

/** Returns the name of a piece of work; equal work has equal names. */
export function nameOfWork(work: Work): string {
  switch (work.kind) {
    case 'thread':
      return `thread|${work.threadId}`;
    case 'run':
      return `run|${work.requestId}`;
    case 'outbox':
      return `outbox|${work.shard}`;
    case 'timer':
      return `${work.timer}|${work.id}`;
  }
}

/** Returns the shard in which the work is due. */
export function shardOfWork(work: Work): number {
  switch (work.kind) {
    case 'thread':
      return shardOf(work.threadId);
    case 'run':
      return shardOf(threadOf(work.requestId) ?? '');
    case 'outbox':
      return work.shard;
    case 'timer':
      // A thread retires, a request does everything else.
      return shardOf(threadOf(work.id) ?? work.id);
  }
}

/** Calls the handler for the work. */
export function performWork(handlers: WorkHandlers, work: Work): Promise<void> {
  switch (work.kind) {
    case 'thread':
      return handlers.thread(work.threadId);
    case 'run':
      return handlers.run(work.requestId);
    case 'outbox':
      return handlers.outbox(work.shard);
    case 'timer':
      return handlers.timer(work.timer, work.id);
  }
}
