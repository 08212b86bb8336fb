import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError, type Progress } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { describeError } from '../../agent/util/describe-error.ts';
import { McpServerError } from '../errors.ts';
import { CallResult, imagesIn, readContent, readResult } from './read-result.ts';

const MAX_PROGRESS_LENGTH = 200;
const MAX_REASON_LENGTH = 500;

export interface Call {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly longestCallMs: number;
  readonly helpers: Pick<ToolHelpers, 'signal' | 'progress' | 'attach'>;
  /** Tells whether the connection was lost meanwhile. */
  readonly isLost: () => boolean;
}

/** Makes one call. An abort and a timeout cancel it on the server too; every failure is one clear error. */
export async function callTool(client: Client, call: Call): Promise<unknown> {
  const { server, tool, input, helpers, timeoutMs, longestCallMs } = call;
  helpers.signal.throwIfAborted();
  // The SDK never removes its listener from the signal, so it gets one that lives as long as the call.
  const cancel = new AbortController();
  const onAbort = () => cancel.abort(helpers.signal.reason);
  helpers.signal.addEventListener('abort', onAbort, { once: true });
  let result: CallResult;
  try {
    result = await client.request(
      { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
      CallResult,
      {
        signal: cancel.signal,
        timeout: timeoutMs,
        maxTotalTimeout: longestCallMs,
        resetTimeoutOnProgress: true,
        onprogress: (progress) => report(progress, helpers),
      },
    );
  } catch (error) {
    helpers.signal.throwIfAborted();
    const explained = explain(error, call);
    // When progress continues past the limit, the SDK stops waiting but does not tell the server.
    if (explained.code === 'timed-out') cancel.abort(explained.message);
    throw explained;
  } finally {
    helpers.signal.removeEventListener('abort', onAbort);
  }
  if (result.isError !== true) {
    for (const image of imagesIn(result)) helpers.attach(image);
    return readResult(result);
  }
  const reason = readContent(result) || JSON.stringify(result.structuredContent ?? 'it does not say why');
  throw new McpServerError('failed', server, reason);
}

function report({ progress, total, message }: Progress, helpers: Pick<ToolHelpers, 'progress'>): void {
  const hasTotal = total !== undefined && total > 0;
  const text = message ?? (hasTotal ? `${progress} of ${total}` : `${progress}`);
  const fraction = hasTotal ? Math.min(1, Math.max(0, progress / total)) : undefined;
  helpers.progress(text.slice(0, MAX_PROGRESS_LENGTH), fraction);
}

function explain(cause: unknown, { server, tool, isLost, timeoutMs, longestCallMs }: Call): McpServerError {
  const make = (code: McpServerError['code'], message: string) =>
    new McpServerError(code, server, message, { cause });
  const reason = describeError(cause).slice(0, MAX_REASON_LENGTH);
  if (isLost()) {
    return make(
      'lost',
      `The MCP server "${server}" went down while "${tool}" ran and is being restarted; ` +
        'the call may or may not have taken effect, so check before you try again.',
    );
  }
  if (cause instanceof McpError && cause.code === ErrorCode.RequestTimeout) {
    const limit = reason.includes('Maximum total')
      ? `was not done after ${longestCallMs} ms`
      : `gave no answer and no sign of progress for ${timeoutMs} ms`;
    return make(
      'timed-out',
      `"${tool}" of the MCP server "${server}" ${limit} and was cancelled; ` +
        'it may or may not have taken effect, so check before you try again.',
    );
  }
  if (provesRefusal(cause)) {
    return make('refused', `The MCP server "${server}" refused the call of "${tool}": ${reason}`);
  }
  if (cause instanceof McpError || cause instanceof StreamableHTTPError) {
    return make(
      'lost',
      `The MCP server "${server}" failed while "${tool}" may have run: ${reason}; ` +
        'the call may or may not have taken effect, so check before you try again.',
    );
  }
  return make('lost', `The answer of "${tool}" from the MCP server "${server}" cannot be read: ${reason}`);
}

/** The errors by which JSON-RPC refuses a request before it runs. */
const REFUSALS = new Set<number>([
  ErrorCode.ParseError,
  ErrorCode.InvalidRequest,
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.UrlElicitationRequired,
]);

/** True if the server's answer proves that the call did not run; -32603, unknown codes, 408 and 5xx prove nothing. */
function provesRefusal(cause: unknown): boolean {
  if (cause instanceof McpError) return REFUSALS.has(cause.code);
  if (!(cause instanceof StreamableHTTPError)) return false;
  const { code = 0 } = cause;
  return code >= 400 && code < 500 && code !== 408;
}
