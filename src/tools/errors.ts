import { AgentError, outcomeUnknown } from '../agent/errors.ts';

export type HttpErrorCode =
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
    if (code === 'broken-off' || code === 'timed-out') outcomeUnknown(this);
  }
}

/** `metadata`: the name is allowed, but it leads to a cloud's metadata service. */
export type BlockReason = 'not-allowed' | 'metadata';

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
 * - `refused`: the server refused the call.
 * - `failed`: the tool ran and reported a failure.
 */
export type McpServerErrorCode =
  | 'cannot-start'
  | 'down'
  | 'changed'
  | 'lost'
  | 'timed-out'
  | 'refused'
  | 'failed';

/** A failed MCP server or a failed call of one; the message names the server. */
export class McpServerError extends AgentError<McpServerErrorCode> {
  readonly server: string;

  constructor(code: McpServerErrorCode, server: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.server = server;
    if (code === 'lost' || code === 'timed-out') outcomeUnknown(this);
  }
}
