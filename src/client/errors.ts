/** The bot has answered that it will not do this. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  /** The `code` of the problem, such as `too-many`. */
  readonly code: string;
  readonly status: number;
  /** The seconds after which another try makes sense. */
  readonly retryAfterS: number | undefined;

  constructor(code: string, detail: string, status = 0, retryAfterS?: number) {
    super(detail);
    this.code = code;
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

/** The bot cannot be reached, so that nobody knows whether it took the request. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}
