import { OAuthError, UnauthorizedError } from '@modelcontextprotocol/client';
import { describeError } from '../../../agent/errors.ts';

/** Says why a request to a server got no token; nothing was run by it. */
export class AuthorizationError extends UnauthorizedError {
  /** Tells whether the person has to connect again. */
  readonly needsConsent: boolean;

  constructor(
    message: string,
    { needsConsent = false, cause }: { needsConsent?: boolean; cause?: unknown } = {},
  ) {
    super(message);
    this.name = 'AuthorizationError';
    this.needsConsent = needsConsent;
    if (cause !== undefined) this.cause = cause;
  }
}

const MAX_REASON_LENGTH = 300;

/** Wraps any failure on the way to a token. */
export function toAuthorizationError(what: string, error: unknown): AuthorizationError {
  if (error instanceof AuthorizationError) return error;
  const reason = error instanceof OAuthError ? `${error.code}: ${error.message}` : describeError(error);
  return new AuthorizationError(`${what}: ${reason.slice(0, MAX_REASON_LENGTH)}`, { cause: error });
}
