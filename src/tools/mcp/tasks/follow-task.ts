import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { toJson } from '../../../agent/json.ts';
import type { ToolHelpers } from '../../../agent/tool.ts';
import { StoppedError } from '../../../agent/util/abort.ts';
import { describeError } from '../../../agent/util/describe-error.ts';
import { McpServerError } from '../../errors.ts';
import { CallResult } from '../read-result.ts';
import { resumedFrom, SERVER_PAUSE } from '../server-pause.ts';

/** The time that a server is asked to keep a task and its result. */
const TASK_TTL_MS = 7 * 86_400_000;
const POLL_MS = { usual: 1000, shortest: 100, longest: 60_000 };
const MAX_PROGRESS = 200;
const CANCEL_TIMEOUT_MS = 5000;

const Task = z.looseObject({
  taskId: z.string().min(1),
  status: z.string(),
  statusMessage: z.string().optional(),
  pollInterval: z.number().optional(),
});
const Created = z.looseObject({ task: Task });

/** A call that its server runs as a task. */
export interface TaskCall {
  readonly server: string;
  readonly tool: { readonly name: string; readonly digest: string };
  readonly input: object;
  readonly timeoutMs: number;
  readonly helpers: Pick<ToolHelpers, 'signal' | 'progress' | 'interrupt' | 'resumed'>;
}

/** Returns the id of the task that a restarted call has to follow; `undefined` for a call that is made now. */
export function taskToFollow({ resumed }: Pick<ToolHelpers, 'resumed'>): string | undefined {
  const pause = resumedFrom(resumed)?.pause;
  return pause?.kind === 'task' ? pause.taskId : undefined;
}

/** Starts a task and pauses the call, so that the id of the task is on record before anything else happens to it. */
export async function startTask(client: Client, call: TaskCall, options: RequestOptions): Promise<string> {
  const { tool, input } = call;
  const params = { name: tool.name, arguments: { ...input }, task: { ttl: TASK_TTL_MS } };
  const { task } = await client.request({ method: 'tools/call', params }, Created, options);
  return task.taskId;
}

/** Pauses the call with the id of its task. */
export function pauseForTask({ server, tool, helpers }: TaskCall, taskId: string): never {
  const pause = { kind: 'task', server, definition: tool.digest, taskId };
  return helpers.interrupt({ [SERVER_PAUSE]: toJson(pause) });
}

/**
 * Follows a task to its result. Every failure on the way leaves the outcome unknown, since the task goes on without us; only a person's
 * Stop cancels it.
 */
export async function followTask(client: Client, call: TaskCall, taskId: string): Promise<CallResult> {
  const { server, tool, helpers, timeoutMs } = call;
  const options = { timeout: timeoutMs, signal: helpers.signal };
  try {
    for (;;) {
      const task = await client.request({ method: 'tasks/get', params: { taskId } }, Task, options);
      if (task.status === 'cancelled') throw new Error(task.statusMessage ?? 'the task was cancelled');
      if (task.status !== 'working')
        return await client.request({ method: 'tasks/result', params: { taskId } }, CallResult, options);
      if (task.statusMessage !== undefined) helpers.progress(task.statusMessage.slice(0, MAX_PROGRESS));
      await sleep(pollMs(task.pollInterval), undefined, { signal: helpers.signal });
    }
  } catch (cause) {
    if (helpers.signal.reason instanceof StoppedError) await cancel(client, taskId);
    const message =
      `The MCP server "${server}" runs "${tool.name}" as a task, whose end is not known: ${describeError(cause)}; ` +
      'it may or may not have taken effect.';
    throw new McpServerError('lost', server, message, { cause });
  }
}

function pollMs(wanted: number | undefined): number {
  return Math.min(POLL_MS.longest, Math.max(POLL_MS.shortest, wanted ?? POLL_MS.usual));
}

async function cancel(client: Client, taskId: string): Promise<void> {
  const request = { method: 'tasks/cancel', params: { taskId } } as const;
  await client.request(request, z.looseObject({}), { timeout: CANCEL_TIMEOUT_MS }).catch(() => {});
}
