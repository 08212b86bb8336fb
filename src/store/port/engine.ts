import type { TimerKind } from './values.ts';

/** Work that may be due. It names where to look; it is never the right to act. */
export type Work =
  | { readonly kind: 'thread'; readonly threadId: string }
  | { readonly kind: 'run'; readonly requestId: string }
  | { readonly kind: 'outbox'; readonly shard: number }
  | { readonly kind: 'timer'; readonly timer: TimerKind; readonly id: string };
export type WorkKind = Work['kind'];

/** The handlers of a worker. Each may be called twice, and for work that is no longer due. */
export interface WorkHandlers {
  thread(threadId: string): Promise<void>;
  run(requestId: string): Promise<void>;
  outbox(shard: number): Promise<void>;
  timer(kind: TimerKind, id: string): Promise<void>;
}

/** Distributes work over processes. A lost wake-up only delays work, because every process sweeps the record for what is due. */
export interface Engine {
  /** Never throws and never blocks. */
  wake(work: Work, delayMs?: number): void;
  /** Notes that a process works in a shard, so that the others look there soon if it dies. */
  markActive(shard: number): void;
  start(handlers: WorkHandlers): Promise<void>;
  /** Lists the work that runs in this process now. */
  running(): readonly Work[];
  /** Takes no more work, and waits a bounded time for running handlers. */
  stop(): Promise<void>;
}

/** The log of the engine; a pino logger is one. */
export interface EngineLog {
  warn(details: object, message: string): void;
}
