import type { ToolContext } from '../../agent/tool.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';

/** Builds the context of every tool call: its thread, its requester, and the callback address for external systems. */
export function toolContext(
  { callbacks }: Pick<BotContext, 'callbacks'>,
  threadId: string,
  requester: string,
): ToolContext {
  return {
    threadId,
    requester,
    channel: parseThreadId(threadId).channel,
    callbackUrl: (idempotencyKey: string) => callbacks.make({ threadId, idempotencyKey }),
  };
}
