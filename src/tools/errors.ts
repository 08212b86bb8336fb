import { AgentError } from '../agent/errors/agent-error.ts';
import { outcomeUnknown } from '../agent/errors/outcome-unknown.ts';

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

/** Why a host is out of reach: nobody allowed it, or only its metadata address itself could be allowed. */
export type BlockReason = 'not-allowed' | 'metadata';

/** A host that no call may reach; its sentence names the host as it was written, never what it resolves to. */
export class BlockedAddressError extends AgentError<'blocked-address'> {
  readonly host: string;
  readonly reason: BlockReason;

  constructor(host: string, reason: BlockReason) {
    super('blocked-address', sentences[reason](host));
    this.host = host;
    this.reason = reason;
  }
}

const sentences: Readonly<Record<BlockReason, (host: string) => string>> = {
  'not-allowed': (host) =>
    `The host "${host}" is not on the public internet, so nothing was sent; an admin allows it by adding "${host}" to allow_private.`,
  metadata: (host) =>
    `The host "${host}" leads to a cloud metadata service, so nothing was sent; allow_private opens that only to the address itself.`,
};

/**
 * - `cannot-start`: the server never came up.
 * - `down`: the server was not there, so the call was not made.
 * - `lost`, `timed-out`: the call was made and its outcome is not known.
 * - `refused`: the server would not take the call.
 * - `failed`: the tool ran and says that it failed.
 */
export type McpServerErrorCode = 'cannot-start' | 'down' | 'lost' | 'timed-out' | 'refused' | 'failed';

/** What went wrong with an MCP server or one of its calls, in one sentence that names the server. */
export class McpServerError extends AgentError<McpServerErrorCode> {
  readonly server: string;

  constructor(code: McpServerErrorCode, server: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.server = server;
    if (code === 'lost' || code === 'timed-out') outcomeUnknown(this);
  }
}
