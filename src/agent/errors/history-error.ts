import { AgentError } from './agent-error.ts';

export type HistoryErrorCode =
  | 'malformed-message'
  | 'dangling-call'
  | 'orphan-result'
  | 'repeated-result'
  | 'repeated-ref';

/** Messages that no run of the loop can have written; thrown before anything runs. */
export class HistoryError extends AgentError<HistoryErrorCode> {
  readonly index: number;
  readonly ref: string | undefined;

  constructor(code: HistoryErrorCode, message: string, index: number, ref?: string, options?: ErrorOptions) {
    super(code, `messages[${index}]: ${message}`, options);
    this.index = index;
    this.ref = ref;
  }
}
