import type { ToolContext } from '../../agent/tool.ts';
import { NOBODY, type TaskPeople } from '../../engine/task-people.ts';
import { MAX_NOTES, type MemoryContext } from '../../tools/built-ins.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';

/** Builds the context of every tool call: its thread, its people, and the callback address for external systems. */
export function toolContext(
  { callbacks, store }: Pick<BotContext, 'callbacks' | 'store'>,
  threadId: string,
  { requesters, contextAuthors }: TaskPeople,
): ToolContext {
  const { channel } = parseThreadId(threadId);
  const memory: MemoryContext = {
    async remember(id, text) {
      // A note is the words of everyone who took part in the task.
      const people = [...new Set([...requesters, ...contextAuthors])];
      return (await store.remember(channel, { id, text, people }, MAX_NOTES)).outcome;
    },
  };
  return {
    ...memory,
    threadId,
    requester: requesters[0] ?? NOBODY,
    requesters,
    contextAuthors,
    channel,
    callbackUrl: (idempotencyKey: string) => callbacks.make({ threadId, idempotencyKey }),
  };
}
