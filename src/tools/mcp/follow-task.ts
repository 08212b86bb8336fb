import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  ProtocolError,
  type RequestOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import { toJson } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { StoppedError } from '../../agent/util/abort.ts';
import { McpServerError } from '../errors.ts';
import type { TaskAnswers } from './input-dialog.ts';
import { CallResult } from './read-result.ts';
import { isRunAsTask, resumedFrom, SERVER_PAUSE, type TaskPause } from './server-pause.ts';

/** The time that a server is asked to keep a task and its result. */
const TASK_TTL_MS = 7 * 86_400_000;
const POLL_MS = { usual: 1000, shortest: 100, longest: 60_000 };
const MAX_PROGRESS = 200;
const CANCEL_TIMEOUT_MS = 5000;

const Task = z.looseObject({
  taskId: z.string().min(1),
  status: z.string(),
  statusMessage: z.string().optional(),
  /** The interval in the protocol 2025-11-25. */
  pollInterval: z.number().optional(),
  /** The interval in the extension of 2026-07-28. */
  pollIntervalMs: z.number().optional(),
});
type Task = z.infer<typeof Task>;
const Created = z.looseObject({ task: Task });
const Completed = z.object({ result: CallResult });
const Failed = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});
const Asking = z.object({ inputRequests: z.record(z.string(), z.unknown()) });
const Empty = z.looseObject({});

/** A call that its server runs as a task. */
interface TaskCall {
  readonly server: string;
  readonly tool: { readonly name: string; readonly digest: string };
  readonly input: object;
  readonly timeoutMs: number;
  readonly helpers: Pick<ToolHelpers, 'signal' | 'progress' | 'interrupt' | 'resumed'>;
}

/** The questions of a task that nobody has answered yet. */
export interface TaskInput {
  readonly inputRequests: Readonly<Record<string, unknown>>;
}

/** Returns the task that a restarted call has to follow; `undefined` for a call that is made now. */
export function taskToFollow({ resumed }: Pick<ToolHelpers, 'resumed'>): TaskPause | undefined {
  const pause = resumedFrom(resumed)?.pause;
  return pause?.kind === 'task' ? pause : undefined;
}

/** Tells whether a restarted call belongs to a task that runs already: it is followed, or its questions are answered. */
export function belongsToTask({ resumed }: Pick<ToolHelpers, 'resumed'>): boolean {
  return isRunAsTask(resumedFrom(resumed)?.pause);
}

/** Starts a task of the protocol 2025-11-25, and returns its id. */
export async function startTask(client: Client, call: TaskCall, options: RequestOptions): Promise<string> {
  const { tool, input } = call;
  const params = { name: tool.name, arguments: { ...input }, task: { ttl: TASK_TTL_MS } };
  const { task } = await client.request({ method: 'tools/call', params }, Created, options);
  return task.taskId;
}

/** Pauses the call with the id of its task, so that it is on record before anything else happens to the task. */
export function pauseForTask(
  { server, tool, helpers }: TaskCall,
  task: Pick<TaskPause, 'taskId' | 'answered' | 'notes'>,
): never {
  const pause = { kind: 'task', server, definition: tool.digest, ...task } satisfies TaskPause;
  return helpers.interrupt({ [SERVER_PAUSE]: toJson(pause) });
}

/**
 * Follows a task to its result, or until it asks for input. Every failure on the way leaves the outcome unknown, since the task goes on
 * without us; only a person's Stop cancels it.
 */
export async function followTask(
  client: Client,
  call: TaskCall,
  { taskId, answered = [] }: Pick<TaskPause, 'taskId' | 'answered'>,
): Promise<CallResult | TaskInput> {
  const { helpers, timeoutMs } = call;
  const options = { timeout: timeoutMs, signal: helpers.signal };
  const isExtension = client.getProtocolEra() === 'modern';
  return guarded(client, call, taskId, async () => {
    for (;;) {
      const task = await client.request({ method: 'tasks/get', params: { taskId } }, Task, options);
      if (task.status === 'cancelled') throw new Error(task.statusMessage ?? 'the task was cancelled');
      if (isExtension) {
        const end = endOf(task, answered);
        if (end !== undefined) return end;
      } else if (task.status !== 'working') {
        return await client.request({ method: 'tasks/result', params: { taskId } }, CallResult, options);
      }
      if (task.statusMessage !== undefined) helpers.progress(task.statusMessage.slice(0, MAX_PROGRESS));
      await sleep(pollMs(task), undefined, { signal: helpers.signal });
    }
  });
}

/** Sends the responses to a task. A task ignores those that it has already, so that they may be sent twice. */
export async function answerTask(
  client: Client,
  call: TaskCall,
  { taskId, responses }: TaskAnswers,
): Promise<void> {
  const options = { timeout: call.timeoutMs, signal: call.helpers.signal };
  const params = { taskId, inputResponses: { ...responses } };
  await guarded(client, call, taskId, () =>
    client.request({ method: 'tasks/update', params }, Empty, options),
  );
}

/** Returns the result of a task of the extension, or its questions; `undefined` while it works. */
function endOf(task: Task, answered: readonly string[]): CallResult | TaskInput | undefined {
  switch (task.status) {
    case 'completed':
      return Completed.parse(task).result;
    case 'failed': {
      const { code, message, data } = Failed.parse(task).error;
      throw new ProtocolError(code, message, data);
    }
    case 'input_required': {
      const open = Object.entries(Asking.parse(task).inputRequests).filter(
        ([key]) => !answered.includes(key),
      );
      // The task may not have taken in the answers yet.
      return open.length === 0 ? undefined : { inputRequests: Object.fromEntries(open) };
    }
    case 'working':
      return undefined;
    default:
      throw new Error(`its status is "${task.status}", which is not known`);
  }
}

async function guarded<Result>(
  client: Client,
  { server, tool, helpers }: TaskCall,
  taskId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (helpers.signal.reason instanceof StoppedError) await cancel(client, taskId);
    const message =
      `The MCP server "${server}" runs "${tool.name}" as a task, whose end is not known: ${describeError(cause)}; ` +
      'it may or may not have taken effect.';
    throw new McpServerError('lost', server, message, { cause });
  }
}

function pollMs({ pollInterval, pollIntervalMs }: Task): number {
  const wanted = pollIntervalMs ?? pollInterval ?? POLL_MS.usual;
  return Math.min(POLL_MS.longest, Math.max(POLL_MS.shortest, wanted));
}

async function cancel(client: Client, taskId: string): Promise<void> {
  const request = { method: 'tasks/cancel', params: { taskId } } as const;
  await client.request(request, Empty, { timeout: CANCEL_TIMEOUT_MS }).catch(() => {});
}

/** The extension by which a server of the current protocol runs calls as tasks. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The metadata key of a result that stands for a started task. */
const STARTED = 'countersign/task';

const TaskResult = z.looseObject({ resultType: z.literal('task'), taskId: z.string().min(1) });
const Started = z.looseObject({
  _meta: z.looseObject({ [STARTED]: z.object({ taskId: z.string() }) }),
});

/**
 * Lets answers pass that start a task. The client library knows no such result and would refuse it, so it gets an empty one with the
 * task in its metadata. Only a call of a tool may be answered so: as the answer to anything else the empty result is not valid.
 */
export function admitTaskResults(transport: Transport): void {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => deliver?.(admit(message), extra);
}

function admit(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCResultResponse(message)) return message;
  const task = TaskResult.safeParse(message.result).data;
  if (task === undefined) return message;
  return { ...message, result: { resultType: 'complete', content: [], _meta: { [STARTED]: task } } };
}

/** Returns the id of the task that an answer has started; `undefined` if the call was answered at once. */
export function startedTask(answer: unknown): string | undefined {
  return Started.safeParse(answer).data?._meta[STARTED].taskId;
}
