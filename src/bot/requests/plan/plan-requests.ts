import type { Message } from '../../../agent/messages.ts';
import { type CloseReply, closeInterrupt } from '../../../agent/replies.ts';
import { Transcript } from '../../../agent/transcript.ts';
import { classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import { filesReadIn } from '../../../engine/request-details.ts';
import { NOBODY, peopleOf, presentPart } from '../../../engine/task-people.ts';
import type { NewRequest } from '../../../store/port/store.ts';
import { elicitationOf } from '../../../tools/mcp/server-pause.ts';
import type { BotContext } from '../../context.ts';
import { undoneBy } from '../undo-call.ts';
import { joinIdentical, type WaitingCall } from './join-identical.ts';
import { type PlanContext, planRequest } from './plan-request.ts';

/** The requests to open, the refused calls, and the calls that were joined to an identical one. */
export interface RequestPlan {
  readonly requests: readonly NewRequest[];
  readonly refusals: readonly CloseReply[];
  readonly joined: readonly CloseReply[];
}

/**
 * Plans one request per waiting call, and one for identical calls. A call that nobody could ever approve is refused at once, and so are
 * calls beyond the manifest's limits. A call that is asked anew needs no new place.
 */
export async function planRequests(
  context: PlanContext & Pick<BotContext, 'agent' | 'limiter'>,
  threadId: string,
  messages: readonly Message[],
  { anew = false }: { readonly anew?: boolean } = {},
): Promise<RequestPlan> {
  const { round, text } = Transcript.latestRound(messages);
  const { requesters, contextAuthors } = peopleOf(messages, context.toolbox);
  const [requester = NOBODY] = requesters;
  const origin = {
    threadId,
    requesters: [requester, ...requesters.slice(1)],
    contextAuthors,
    why: text,
    files: filesReadIn(presentPart(messages, context.toolbox)),
  };
  const waiting = [...round.values()].flatMap((call) => (call.state === 'waiting' ? [call] : []));
  const isStarted = ({ interrupt }: WaitingCall) =>
    classifyInterrupt(interrupt).kind === 'unknown' || elicitationOf(interrupt) !== undefined;
  const groups = [
    // Each of these was started by itself, so none is joined to another.
    ...waiting.filter(isStarted).map((first) => ({ first, repeats: [] })),
    ...joinIdentical(waiting.filter((call) => !isStarted(call))),
  ];
  const planned = await Promise.all(
    groups.map(async ({ first, repeats }) => ({
      first,
      repeats,
      plan: await planRequest(
        context,
        { ...origin, undoes: undoneIn(messages, first) },
        first.part,
        first.interrupt,
      ),
    })),
  );
  const isLimited = (plan: NewRequest | string) => typeof plan !== 'string' && plan.unsigned !== true;
  const wanted = planned.filter(({ plan }) => isLimited(plan)).length;
  const quota = anew
    ? { admitted: wanted, reason: '' }
    : await context.limiter.quotaFor(origin.requesters, wanted, context.agent().limits);

  const requests: NewRequest[] = [];
  let admitted = 0;
  const refusals: CloseReply[] = [];
  const joined: CloseReply[] = [];
  for (const { first, repeats, plan } of planned) {
    if (typeof plan === 'string') refusals.push(...closeAll([first, ...repeats], 'failed', plan));
    else if (isLimited(plan) && admitted >= quota.admitted)
      refusals.push(...closeAll([first, ...repeats], 'not-asked', quota.reason));
    else {
      requests.push(plan);
      if (isLimited(plan)) admitted += 1;
      joined.push(...closeAll(repeats, 'joined', joinedTo(first)));
    }
  }
  return { requests, refusals, joined };
}

/** Finds the action that a call takes back, as its request keeps it. */
function undoneIn(messages: readonly Message[], { part }: WaitingCall) {
  const undone = undoneBy(messages, part.toolRequest.ref);
  return undone && { requestId: undone.requestId, title: undone.title };
}

function closeAll(calls: readonly WaitingCall[], status: string, reason: string): CloseReply[] {
  return calls.map(({ interrupt }) => closeInterrupt(interrupt, status, reason));
}

function joinedTo({ interrupt }: WaitingCall): string {
  return `Identical to call ${interrupt.toolRequest.ref}: people are asked once, and it runs once at most. See the result of that call.`;
}
