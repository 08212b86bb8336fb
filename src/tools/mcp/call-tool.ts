import {
  type Client,
  OAuthClientFlowError,
  type Progress,
  ProtocolError,
  ProtocolErrorCode,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { describeError, isNotDone } from '../../agent/errors.ts';
import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { AuthorizationError, McpServerError } from '../errors.ts';
import type { ListedTool } from './build-tools.ts';
import {
  answerTask,
  followTask,
  pauseForTask,
  startedTask,
  startTask,
  type TaskInput,
  taskToFollow,
} from './follow-task.ts';
import { InputDialog, InputRequired, type OlderQuestions, withNotes } from './input-dialog.ts';
import { CallResult, filesIn, imagesIn, readContent, readResult } from './read-result.ts';

const MAX_PROGRESS_LENGTH = 200;
const MAX_REASON_LENGTH = 500;
/** The most retries of a call whose server only sends a new state. */
const MAX_RETRIES = 10;

export interface Call {
  readonly server: string;
  readonly tool: ListedTool;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly longestCallMs: number;
  readonly helpers: Pick<ToolHelpers, 'signal' | 'progress' | 'attach' | 'file' | 'interrupt' | 'resumed'>;
  readonly questions: OlderQuestions;
  /** Tells whether the connection was lost meanwhile. */
  readonly isLost: () => boolean;
}

/**
 * Makes one call. An abort and a timeout cancel it on the server too; every failure is one clear error. A server that needs input
 * pauses the call.
 */
export async function callTool(client: Client, call: Call): Promise<unknown> {
  const { server, tool, helpers } = call;
  helpers.signal.throwIfAborted();
  const dialog = new InputDialog(call);
  const result = await resultOf(client, call, dialog);
  if (result.isError !== true) {
    dialog.pauseIfAsked(readContent(result));
    for (const image of imagesIn(result)) helpers.attach(image);
    for (const file of filesIn(result)) helpers.file(file);
    return withNotes(readResult(result, tool.outputSchema), dialog.notes);
  }
  const reason = readContent(result) || JSON.stringify(result.structuredContent ?? 'it does not say why');
  dialog.pauseIfAsked(reason);
  const message = `The MCP server "${server}" reported an error of "${tool.name}": ${reason}`;
  throw new McpServerError('failed', server, [...dialog.notes, message].join('\n'));
}

/** Makes the call, or follows the task that an earlier run of it has started. */
async function resultOf(client: Client, call: Call, dialog: InputDialog): Promise<CallResult> {
  const { helpers, questions } = call;
  if (dialog.taskAnswers !== undefined) return sendAnswers(client, call, dialog);
  const task = taskToFollow(helpers);
  if (task !== undefined) {
    const end = await questions.run(dialog, () => followTask(client, call, task));
    if (!isAsking(end)) return end;
    dialog.requireForTask(task.taskId, end.inputRequests, [...(task.answered ?? [])]);
    return sendAnswers(client, call, dialog);
  }
  if (!startsAsTask(client, call)) return callUntilComplete(client, call, dialog);
  return pauseForTask(call, { taskId: z.string().parse(await makeRequest(client, call, dialog)) });
}

function isAsking(end: CallResult | TaskInput): end is TaskInput {
  return 'inputRequests' in end;
}

/** Sends what the task has asked for. Then the call pauses, so that its next run only follows the task. */
async function sendAnswers(client: Client, call: Call, { taskAnswers, notes }: InputDialog): Promise<never> {
  if (taskAnswers === undefined) throw new Error('there is no answer for the task');
  await answerTask(client, call, taskAnswers);
  const { taskId, sent } = taskAnswers;
  return pauseForTask(call, { taskId, answered: sent, ...(notes.length > 0 && { notes: [...notes] }) });
}

/** True for a tool that an older server runs as a task if it is asked to; a server of the current protocol decides by itself. */
function startsAsTask(client: Client, { tool }: Call): boolean {
  return tool.needsTask && client.getProtocolEra() !== 'modern';
}

async function callUntilComplete(client: Client, call: Call, dialog: InputDialog): Promise<CallResult> {
  for (let retries = 0; ; retries += 1) {
    const answer = await makeRequest(client, call, dialog);
    const taskId = startedTask(answer);
    if (taskId !== undefined) return pauseForTask(call, { taskId });
    const required = InputRequired.safeParse(answer).data;
    if (required === undefined) return CallResult.parse(answer);
    if (retries === MAX_RETRIES) throw explain(new Error('it keeps asking to be called again'), call, false);
    dialog.require(required);
  }
}

/** Makes one request within the time limits. */
async function makeRequest(client: Client, call: Call, dialog: InputDialog): Promise<unknown> {
  const { helpers, timeoutMs, longestCallMs } = call;
  const cancel = new AbortController();
  const onAbort = () => cancel.abort(helpers.signal.reason);
  helpers.signal.addEventListener('abort', onAbort, { once: true });
  // The client's own limit on a call with progress would not tell the server to stop.
  let isTooLong = false;
  const limit = setTimeout(() => {
    isTooLong = true;
    cancel.abort('it took too long');
  }, longestCallMs);
  try {
    return await send(client, call, dialog, {
      signal: cancel.signal,
      timeout: timeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: (progress) => report(progress, helpers),
    });
  } catch (error) {
    helpers.signal.throwIfAborted();
    const address = addressToOpen(error);
    if (address === undefined || !dialog.requireUrl(address)) throw explain(error, call, isTooLong);
    return { content: [] };
  } finally {
    clearTimeout(limit);
    helpers.signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Sends the call. `callTool` alone repeats parameters as headers, from the definition that it is given; that one has no output
 * schema, since the client would check the output without a time limit and report a result that does not fit as a refusal.
 */
async function send(
  client: Client,
  call: Call,
  dialog: InputDialog,
  options: RequestOptions,
): Promise<unknown> {
  const { tool, input, questions } = call;
  const params = { name: tool.name, arguments: { ...input } };
  if (startsAsTask(client, call)) return startTask(client, call, options);
  if (client.getProtocolEra() !== 'modern') {
    return questions.run(dialog, () => client.request({ method: 'tools/call', params }, CallResult, options));
  }
  const inputSchema = { ...tool.inputSchema, type: 'object' as const };
  const toolDefinition = { name: tool.name, inputSchema };
  const retry = { ...params, ...dialog.retryParams };
  return client.callTool(retry, { ...options, toolDefinition, allowInputRequired: true });
}

const UrlRequired = z.object({ elicitations: z.tuple([z.unknown()], z.unknown()) });

/** Returns the question of an older server that refuses a call until an address was opened. */
function addressToOpen(error: unknown): unknown {
  if (!(error instanceof ProtocolError) || error.code !== ProtocolErrorCode.UrlElicitationRequired)
    return undefined;
  return UrlRequired.safeParse(error.data).data?.elicitations[0];
}

function report({ progress, total, message }: Progress, helpers: Pick<ToolHelpers, 'progress'>): void {
  const hasTotal = total !== undefined && total > 0;
  const text = message ?? (hasTotal ? `${progress} of ${total}` : `${progress}`);
  const fraction = hasTotal ? Math.min(1, Math.max(0, progress / total)) : undefined;
  helpers.progress(text.slice(0, MAX_PROGRESS_LENGTH), fraction);
}

function explain(
  cause: unknown,
  { server, tool: { name: tool }, isLost, timeoutMs, longestCallMs }: Call,
  isTooLong: boolean,
): McpServerError {
  const make = (code: McpServerError['code'], message: string) =>
    new McpServerError(code, server, message, { cause });
  const reason = describeError(cause).slice(0, MAX_REASON_LENGTH);
  if (isNotDone(cause)) {
    return make('refused', `"${tool}" of the MCP server "${server}" was not run: ${reason}`);
  }
  if (isLost()) {
    return make(
      'lost',
      `The MCP server "${server}" went down while "${tool}" ran and is being restarted; ` +
        'the call may or may not have taken effect, so check before you try again.',
    );
  }
  if (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout) {
    const limit = isTooLong
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
  if (cause instanceof ProtocolError || cause instanceof SdkHttpError) {
    return make(
      'lost',
      `The MCP server "${server}" failed while "${tool}" may have run: ${reason}; ` +
        'the call may or may not have taken effect, so check before you try again.',
    );
  }
  return make('lost', `The answer of "${tool}" from the MCP server "${server}" cannot be read: ${reason}`);
}

/** Rejects a call whose headers do not repeat its arguments; the library has no name for it. */
const HEADER_MISMATCH = -32020;

/** The errors by which a server refuses a request before it runs. */
const REFUSALS = new Set<number>([
  ProtocolErrorCode.ParseError,
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.MethodNotFound,
  ProtocolErrorCode.InvalidParams,
  HEADER_MISMATCH,
  ProtocolErrorCode.MissingRequiredClientCapability,
  ProtocolErrorCode.UnsupportedProtocolVersion,
  ProtocolErrorCode.UrlElicitationRequired,
]);

/** True if the server's answer proves that the call did not run; -32603, unknown codes, 408, 499 and 5xx prove nothing. */
function provesRefusal(cause: unknown): boolean {
  if (cause instanceof ProtocolError) return REFUSALS.has(cause.code);
  // Thrown for 401 and 403, before anything runs.
  if (cause instanceof AuthorizationError) return true;
  if (cause instanceof UnauthorizedError || cause instanceof OAuthClientFlowError) return true;
  if (!(cause instanceof SdkHttpError)) return false;
  const { status = 0 } = cause;
  return status >= 400 && status < 500 && status !== 408 && status !== 499;
}
