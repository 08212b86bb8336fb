import type { TimerKind, Work } from './work.ts';

export type { Work, WorkKind } from './work.ts';

/** The handlers of a worker. Each may be called twice, and for work that is no longer due. */
export interface WorkHandlers {
  thread(threadId: string): Promise<void>;
  run(requestId: string): Promise<void>;
  outbox(): Promise<void>;
  timer(kind: TimerKind, id: string): Promise<void>;
}

/** Distributes work over processes. A lost wake-up only delays work, because every process sweeps the record for what is due. */
export interface Queue {
  /** Never throws and never blocks. */
  wake(work: Work, delayMs?: number): void;
  start(handlers: WorkHandlers): Promise<void>;
  /** Lists the work that runs in this process now. */
  running(): readonly Work[];
  /** Takes no more work, and waits a bounded time for running handlers. */
  stop(): Promise<void>;
}

/** The log of the queue; a pino logger is one. */
export interface QueueLog {
  warn(details: object, message: string): void;
}
