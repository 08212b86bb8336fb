import type { ToolContext } from '../../agent/tool.ts';
import type { BotContext } from '../context.ts';
import { NOBODY, type TaskPeople } from '../requests/task-people.ts';
import { parseThreadId } from '../slack/thread.ts';

/** Builds the context of every tool call: its thread, its people, and the callback address for external systems. */
export function toolContext(
  { callbacks }: Pick<BotContext, 'callbacks'>,
  threadId: string,
  { requesters, contextAuthors }: TaskPeople,
): ToolContext {
  return {
    threadId,
    requester: requesters[0] ?? NOBODY,
    requesters,
    contextAuthors,
    channel: parseThreadId(threadId).channel,
    callbackUrl: (idempotencyKey: string) => callbacks.make({ threadId, idempotencyKey }),
  };
}
