import { AgentError, describeError, notDone } from '../agent/errors.ts';

type HttpErrorCode =
  | 'invalid-request'
  | 'invalid-input'
  | 'unreachable'
  | 'broken-off'
  | 'timed-out'
  | 'too-large'
  | 'bad-redirect'
  | 'bad-answer';

/** A failed HTTP call. Its message never holds a query string, a header or a resolved address. */
export class HttpError extends AgentError<HttpErrorCode> {
  /** The status of the answer, where there was one. */
  readonly status: number | undefined;

  constructor(code: HttpErrorCode, message: string, options: ErrorOptions & { status?: number } = {}) {
    super(code, message, options);
    this.status = options.status;
  }
}

/** `metadata`: the name is allowed, but it leads to a cloud's metadata service. */
type BlockReason = 'not-allowed' | 'metadata';

/** A host that no call may reach. Its message names the host as it was written, never its resolved address. */
export class BlockedAddressError extends AgentError<'blocked-address'> {
  readonly host: string;
  readonly reason: BlockReason;

  constructor(host: string, reason: BlockReason) {
    super('blocked-address', BLOCKED_TEXTS[reason](host));
    this.host = host;
    this.reason = reason;
  }
}

const BLOCKED_TEXTS: Readonly<Record<BlockReason, (host: string) => string>> = {
  'not-allowed': (host) =>
    `The host "${host}" is not on the public internet, so nothing was sent; an admin allows it by adding "${host}" to allow_private.`,
  metadata: (host) =>
    `The host "${host}" leads to a cloud metadata service, so nothing was sent; to allow this, use the IP address itself in the URL and add it to allow_private.`,
};

/**
 * - `cannot-start`: the server did not start.
 * - `down`: the server was not connected, so the call was not made.
 * - `changed`: the server has changed the tool's definition, so the call was not made.
 * - `lost`, `timed-out`: the call was made and its outcome is unknown.
 * - `refused`: the server refused the call, so it did not run.
 * - `failed`: the tool ran and reported a failure; what it did before that is unknown, unless the manifest says that its errors are final.
 */
type McpServerErrorCode = 'cannot-start' | 'down' | 'changed' | 'lost' | 'timed-out' | 'refused' | 'failed';

/** The codes of calls that were not made, or that the server did not run. */
const NOT_MADE: ReadonlySet<McpServerErrorCode> = new Set(['cannot-start', 'down', 'changed', 'refused']);

/** A failed MCP server or a failed call of one; the message names the server. */
export class McpServerError extends AgentError<McpServerErrorCode> {
  readonly server: string;

  constructor(code: McpServerErrorCode, server: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.server = server;
    if (NOT_MADE.has(code)) notDone(this);
  }
}

/**
 * Says why a request to a server got no token; nothing was run by it. It has the name by which the MCP client knows such an error, and not
 * its class: a bot without MCP servers does not load that library.
 */
export class AuthorizationError extends Error {
  /** Tells whether the person has to connect again. */
  readonly needsConsent: boolean;

  constructor(
    message: string,
    { needsConsent = false, cause }: { needsConsent?: boolean; cause?: unknown } = {},
  ) {
    super(message);
    this.name = 'UnauthorizedError';
    this.needsConsent = needsConsent;
    if (cause !== undefined) this.cause = cause;
  }
}

const MAX_REASON_LENGTH = 300;

/** Wraps any failure on the way to a token. */
export function toAuthorizationError(what: string, error: unknown): AuthorizationError {
  if (error instanceof AuthorizationError) return error;
  const described = describeError(error);
  const reason = isOAuthError(error) ? `${error.code}: ${described}` : described;
  return new AuthorizationError(`${what}: ${reason.slice(0, MAX_REASON_LENGTH)}`, { cause: error });
}

/** Tells whether the MCP client reports the answer of an authorization server, by the error's name and code. */
function isOAuthError(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && error.name === 'OAuthError' && 'code' in error;
}
