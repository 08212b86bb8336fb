import { AgentError, outcomeUnknown } from '../../agent/errors.ts';

export type HttpErrorCode =
  | 'invalid-request'
  | 'invalid-input'
  | 'unreachable'
  | 'broken-off'
  | 'timed-out'
  | 'too-large'
  | 'bad-redirect'
  | 'bad-answer';

/** A call over HTTP that came to nothing; its sentence never holds a query string, a header or a resolved address. */
export class HttpError extends AgentError<HttpErrorCode> {
  /** What the server answered, where it did. */
  readonly status: number | undefined;

  constructor(code: HttpErrorCode, message: string, options: ErrorOptions & { status?: number } = {}) {
    super(code, message, options);
    this.status = options.status;
    if (code === 'broken-off' || code === 'timed-out') outcomeUnknown(this);
  }
}
