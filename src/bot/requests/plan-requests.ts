import type { Message } from '../../agent/messages.ts';
import { type CloseReply, closeInterrupt } from '../../agent/replies.ts';
import { Transcript } from '../../agent/transcript.ts';
import type { NewRequest } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { joinIdentical, type WaitingCall } from './join-identical.ts';
import { planRequest } from './plan-request.ts';
import { roomFor } from './room-for.ts';

/** What is to be asked, the calls that nobody is asked about, and those for which another call of the round is asked. */
export interface RequestPlan {
  readonly requests: readonly NewRequest[];
  readonly refusals: readonly CloseReply[];
  readonly joined: readonly CloseReply[];
}

/**
 * Makes a request of every call that waits for people, and of identical calls one. A call that nobody could ever sign is refused
 * at once, and so is what goes beyond the manifest's limits; what was asked before, and is asked anew, takes no further room.
 */
export async function planRequests(
  parts: Pick<BotParts, 'toolbox' | 'directory' | 'agent' | 'brake'>,
  threadId: string,
  messages: readonly Message[],
  { anew = false }: { readonly anew?: boolean } = {},
): Promise<RequestPlan> {
  const transcript = Transcript.of(messages);
  const asked = { threadId, requester: requesterOf(messages), why: transcript.text };
  const waiting = [...transcript.round.values()].flatMap((call) => (call.state === 'waiting' ? [call] : []));
  const planned = await Promise.all(
    joinIdentical(waiting).map(async ({ first, repeats }) => ({
      first,
      repeats,
      plan: await planRequest(parts, asked, first.part, first.interrupt),
    })),
  );
  const wanted = planned.filter(({ plan }) => typeof plan !== 'string').length;
  const room = anew ? { granted: wanted, reason: '' } : await roomFor(parts, asked.requester, wanted);

  const requests: NewRequest[] = [];
  const refusals: CloseReply[] = [];
  const joined: CloseReply[] = [];
  for (const { first, repeats, plan } of planned) {
    if (typeof plan === 'string') refusals.push(...closeAll([first, ...repeats], 'failed', plan));
    else if (requests.length >= room.granted)
      refusals.push(...closeAll([first, ...repeats], 'not-asked', room.reason));
    else {
      requests.push(plan);
      joined.push(...closeAll(repeats, 'joined', joinedTo(first)));
    }
  }
  return { requests, refusals, joined };
}

function closeAll(calls: readonly WaitingCall[], status: string, reason: string): CloseReply[] {
  return calls.map(({ interrupt }) => closeInterrupt(interrupt, status, reason));
}

function joinedTo({ interrupt }: WaitingCall): string {
  return `Identical to call ${interrupt.toolRequest.ref}: people are asked once, and it runs once at most. See the result of that call.`;
}

/** The person who last spoke is the one the agent works for. */
export function requesterOf(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  const user = last?.role === 'user' ? last.metadata?.user : undefined;
  return typeof user === 'string' ? user : 'nobody';
}
