import { isJSONRPCResultResponse, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';

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
