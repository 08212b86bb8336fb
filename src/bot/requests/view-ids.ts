import { threadOf } from '../../store/port.ts';
import { parseThreadId } from '../thread.ts';

/** The card in the thread itself. */
export const THREAD_VIEW = 'thread';

/** The card in a channel where the policy announces it. */
export function channelView(channel: string): string {
  return `in-${channel}`;
}

/** The card in an approver's direct messages. */
export function personView(user: string): string {
  return `to-${user}`;
}

/** The views of a request that somebody may have seen in a channel, if they stand there. */
export function viewsSeenIn(channel: string, who: string, requestId: string): string[] {
  const threadId = threadOf(requestId);
  const isThread = threadId !== undefined && parseThreadId(threadId).channel === channel;
  return [...(isThread ? [THREAD_VIEW] : []), channelView(channel), personView(who)];
}
