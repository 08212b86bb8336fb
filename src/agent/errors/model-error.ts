import { AgentError } from './agent-error.ts';

export type ModelErrorCode =
  | 'rate-limited'
  | 'unavailable'
  | 'timed-out'
  | 'unauthorized'
  | 'refused-request';

export interface ModelErrorDetails {
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A model that gave no answer, after every retry that made sense; `retryAfterMs` is what it asked us to wait. */
export class ModelError extends AgentError<ModelErrorCode> {
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ModelErrorCode, message: string, details: ModelErrorDetails = {}) {
    super(code, message, { cause: details.cause });
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
  }
}
