import type { StandIn } from '../../engine/ports.ts';
import { threadOf } from '../../store/port/keys.ts';
import type { NewView } from '../../store/port/request-record.ts';
import { parseThreadId } from '../slack/thread.ts';

/** The card in the thread itself. */
export const THREAD_VIEW = 'thread';

/** Returns the id of the card in a channel where the policy announces requests. */
export function channelView(channel: string): string {
  return `in-${channel}`;
}

/** Returns the id of the card in a person's direct messages. */
export function personView(user: string): string {
  return `to-${user}`;
}

/** Places a card in the direct messages of people who are asked for an approver, once for each of them. */
export function standInViews(standIns: readonly StandIn[]): NewView[] {
  const places = new Map(standIns.map(({ who, standsFor }) => [who, standsFor]));
  return [...places].map(([user, standsFor]) => ({ id: personView(user), place: { user, for: standsFor } }));
}

/** Lists the views of a request that a person may have seen in a channel. */
export function viewsSeenIn(channel: string, who: string, requestId: string): string[] {
  const threadId = threadOf(requestId);
  const isThread = threadId !== undefined && parseThreadId(threadId).channel === channel;
  return [...(isThread ? [THREAD_VIEW] : []), channelView(channel), personView(who)];
}
