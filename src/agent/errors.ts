/** Base of every error of the agent: `code` is for programs, `message` for people. */
export class AgentError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

export type DefinitionErrorCode =
  | 'invalid-name'
  | 'repeated-name'
  | 'invalid-schema'
  | 'missing-function'
  | 'invalid-option';

/** Reports a tool or an option that cannot be used as written; thrown before anything runs. */
export class DefinitionError extends AgentError<DefinitionErrorCode> {
  readonly tool: string | undefined;

  constructor(code: DefinitionErrorCode, message: string, tool?: string, options?: ErrorOptions) {
    super(code, message, options);
    this.tool = tool;
  }
}

/** Refuses an option that must be a list and is not. */
export function requireList(option: string, value: unknown): void {
  if (Array.isArray(value)) return;
  const given = value === null ? 'null' : typeof value;
  throw new DefinitionError('invalid-option', `${option} must be a list, not ${given}`);
}

export type HistoryErrorCode =
  | 'malformed-message'
  | 'dangling-call'
  | 'orphan-result'
  | 'repeated-result'
  | 'repeated-ref';

/** Reports messages that no run of the loop can have written; thrown before anything runs. */
export class HistoryError extends AgentError<HistoryErrorCode> {
  readonly index: number;
  readonly ref: string | undefined;

  constructor(code: HistoryErrorCode, message: string, index: number, ref?: string, options?: ErrorOptions) {
    super(code, `messages[${index}]: ${message}`, options);
    this.index = index;
    this.ref = ref;
  }
}

export type ReplyErrorCode =
  | 'malformed-reply'
  | 'unknown-request'
  | 'wrong-tool'
  | 'unknown-tool'
  | 'repeated-reply'
  | 'missing-reply'
  | 'already-settled'
  | 'stale-reply'
  | 'changed-input'
  | 'not-restartable'
  | 'invalid-input'
  | 'invalid-output'
  | 'invalid-metadata';

export interface ReplyErrorDetails {
  readonly tool?: string;
  readonly ref?: string;
  readonly field?: string;
}

/** Reports a reply to an interrupt that cannot be used; thrown before any tool of the resume runs. */
export class ReplyError extends AgentError<ReplyErrorCode> {
  readonly tool: string | undefined;
  readonly ref: string | undefined;
  readonly field: string | undefined;

  constructor(code: ReplyErrorCode, message: string, details: ReplyErrorDetails, options?: ErrorOptions) {
    super(code, message, options);
    this.tool = details.tool;
    this.ref = details.ref;
    this.field = details.field;
  }
}

export type ModelErrorCode =
  | 'rate-limited'
  | 'no-quota'
  | 'unavailable'
  | 'timed-out'
  | 'unauthorized'
  | 'unknown-model'
  | 'context-too-long'
  | 'content-filter'
  | 'refused-request'
  | 'malformed-answer'
  /** A limit of the caller's own; the message is for people. */
  | 'over-budget';

export interface ModelErrorDetails {
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly field?: string | undefined;
  readonly cause?: unknown;
}

/** Reports a model that gave no complete answer, after all retries; the message has the provider's own words. */
export class ModelError extends AgentError<ModelErrorCode> {
  readonly status: number | undefined;
  /** The wait that the model asked for. */
  readonly retryAfterMs: number | undefined;
  /** The field of the request that the model refused. */
  readonly field: string | undefined;

  constructor(code: ModelErrorCode, message: string, details: ModelErrorDetails = {}) {
    super(code, message, { cause: details.cause });
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.field = details.field;
  }
}

/** Shared by all copies of this file: a tool from an admin's folder may bring its own. */
const notDoneMark = Symbol.for('countersign.not-done');

/**
 * Marks an error, or makes one, by which a tool says that it did nothing: the call has failed. Without it, whether a call took effect
 * whose tool threw an error is unknown, and a person is asked.
 */
export function notDone(reason: string | Error): Error {
  const error = typeof reason === 'string' ? new Error(reason) : reason;
  Object.defineProperty(error, notDoneMark, { value: true });
  return error;
}

export function isNotDone(error: unknown): boolean {
  return error instanceof Error && notDoneMark in error;
}

const ranMark = Symbol.for('countersign.ran');

/** Marks the error of a call that took effect and whose output cannot be used: it counts as no failure, and the model is told. */
export function afterEffect<Marked extends Error>(error: Marked): Marked {
  Object.defineProperty(error, ranMark, { value: true });
  return error;
}

export function isAfterEffect(error: unknown): boolean {
  return error instanceof Error && ranMark in error;
}

/** Returns the text of an error, without its stack. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
