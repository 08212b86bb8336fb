import type { Message } from '../../../agent/messages.ts';
import type { CloseReply } from '../../../agent/replies.ts';
import { settle } from '../../../agent/settle.ts';
import type { NewRequest } from '../../../store/port/request-record.ts';
import type { BotContext } from '../../context.ts';
import type { PlanContext } from './plan-context.ts';
import { planRequests } from './plan-requests.ts';

/** Plans the requests of the calls that wait, and closes the calls that nobody is asked about. */
export async function openRequests(
  context: PlanContext & Pick<BotContext, 'agent' | 'limiter'>,
  threadId: string,
  messages: readonly Message[],
  options: { readonly anew?: boolean } = {},
): Promise<{
  messages: readonly Message[];
  requests: readonly NewRequest[];
  refused: readonly CloseReply[];
}> {
  const { requests, refusals, joined } = await planRequests(context, threadId, messages, options);
  const close = [...refusals, ...joined];
  if (close.length === 0) return { messages, requests, refused: [] };
  const closed = await settle({ messages, tools: [], resume: { close } });
  return { messages: closed.messages, requests, refused: refusals };
}
