import { AgentError, outcomeUnknown } from '../../agent/errors.ts';

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
