import { AgentError } from './agent-error.ts';

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

/** A reply to an interrupt that cannot be taken; thrown before any tool of the resume runs. */
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
