import type { TimerKind } from './port.ts';

/** Something that may be due; it names where to look and is never the right to act. */
export type Work =
  | { readonly kind: 'thread'; readonly threadId: string }
  | { readonly kind: 'run'; readonly requestId: string }
  | { readonly kind: 'outbox'; readonly shard: number }
  | { readonly kind: 'timer'; readonly timer: TimerKind; readonly id: string };
export type WorkKind = Work['kind'];

/** What a process does when it is woken; each may be called twice and for what is no longer due. */
export interface WorkHandlers {
  thread(threadId: string): Promise<void>;
  run(requestId: string): Promise<void>;
  outbox(shard: number): Promise<void>;
  timer(kind: TimerKind, id: string): Promise<void>;
}

/** Spreads work over processes; what it loses is delayed, because every process also sweeps the record for what is due. */
export interface Engine {
  /** Never throws and never blocks; a wake-up that is lost is made up for by the sweep. */
  wake(work: Work, delayMs?: number): void;
  start(handlers: WorkHandlers): Promise<void>;
  /** Takes no more work and lets running handlers finish, for a bounded time. */
  stop(): Promise<void>;
}

/** Where the engine says what went wrong; a pino logger is one. */
export interface EngineLog {
  warn(details: object, message: string): void;
}
