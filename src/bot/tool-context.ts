import type { ToolContext } from '../agent/tool.ts';
import type { BotParts } from './bot-parts.ts';
import { parseThreadId } from './thread.ts';

/** What every tool is told of where it works, and the address under which an outside system can report back to its call. */
export function toolContext(
  { callbacks }: Pick<BotParts, 'callbacks'>,
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
