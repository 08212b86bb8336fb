import { canonicalJson } from '../../../agent/json.ts';
import type { Message } from '../../../agent/messages.ts';
import { buildClose, type CloseReply } from '../../../agent/replies.ts';
import { Transcript } from '../../../agent/transcript.ts';
import { undoneBy } from '../../../engine/asks/undo-call.ts';
import { callOnRecord } from '../../../engine/caller-threads.ts';
import { classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import type { Quota } from '../../../engine/pending-limiter.ts';
import { filesReadIn } from '../../../engine/read-files.ts';
import { NOBODY, peopleOf, presentPart } from '../../../engine/task-people.ts';
import type { NewRequest } from '../../../store/port/request-record.ts';
import type { PendingLimits } from '../../../tools/manifest/manifest.ts';
import { elicitationOf } from '../../../tools/mcp/server-pause.ts';
import { askOf } from '../../../tools/pause.ts';
import { waitingAnswerOf } from '../../../tools/waiting-answer.ts';
import type { BotContext } from '../../context.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import type { PlanContext, Unaskable } from './plan-context.ts';
import { planRequest } from './plan-request.ts';
import { planSteps, proposedPlan, type WaitingCall } from './plan-steps.ts';

/** The requests to open, the refused calls, and the calls that were joined to an identical one. */
export interface RequestPlan {
  readonly requests: readonly NewRequest[];
  readonly refusals: readonly CloseReply[];
  readonly joined: readonly CloseReply[];
}

/** Calls of one tool with the same arguments: people are asked about the first, and the others never run. */
interface IdenticalCalls {
  readonly first: WaitingCall;
  readonly repeats: readonly WaitingCall[];
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
  await context.toolbox.refreshPeople([...requesters, ...contextAuthors]);
  const [requester = NOBODY] = requesters;
  const origin = {
    threadId,
    requesters: [requester, ...requesters.slice(1)],
    contextAuthors,
    why: text,
    files: filesReadIn(presentPart(messages, context.toolbox)),
    link: callOnRecord(messages)?.call.link,
  };
  const waiting: readonly WaitingCall[] = [...round.values()].flatMap((call) =>
    call.state === 'waiting' ? [call] : [],
  );
  const isStarted = ({ interrupt }: WaitingCall) =>
    classifyInterrupt(interrupt).kind === 'unknown' ||
    (elicitationOf(interrupt) ?? waitingAnswerOf(interrupt)) !== undefined ||
    askOf(interrupt)?.reply === 'restart';
  const proposed = proposedPlan(
    waiting.filter((call) => !isStarted(call)),
    round,
  );
  const inPlan = proposed === undefined ? [] : [proposed.call, ...proposed.steps.map(({ call }) => call)];
  const single = waiting.filter((call) => !inPlan.includes(call));
  const groups = [
    // Each of these was started by itself, so none is joined to another.
    ...single.filter(isStarted).map((first) => ({ first, repeats: [] })),
    ...joinIdentical(single.filter((call) => !isStarted(call))),
  ].toSorted((a, b) => waiting.indexOf(a.first) - waiting.indexOf(b.first));
  const several = proposed && (await planSteps(context, origin, proposed));
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
  const isLimited = (plan: NewRequest | Unaskable) => !('unaskable' in plan) && plan.unsigned !== true;
  const wanted = planned.filter(({ plan }) => isLimited(plan)).length + (several?.asked ?? 0);
  const { limits } = context.agent();
  const quota = anew ? undefined : await context.limiter.quotaFor(origin.requesters, wanted, limits);

  const requests: NewRequest[] = [];
  let admitted = 0;
  const refusals: CloseReply[] = [];
  const joined: CloseReply[] = [];
  if (several?.problem !== undefined) refusals.push(...closeAll(inPlan, 'failed', several.problem));
  else if (several !== undefined && quota !== undefined && several.asked > quota.admitted)
    refusals.push(...closeAll(inPlan, 'not-asked', quotaText(quota, limits)));
  else if (several !== undefined) {
    requests.push(...several.requests);
    joined.push(...several.closed);
    admitted += several.asked;
  }
  for (const { first, repeats, plan } of planned) {
    if ('unaskable' in plan) refusals.push(...closeAll([first, ...repeats], 'failed', plan.unaskable));
    else if (quota !== undefined && isLimited(plan) && admitted >= quota.admitted)
      refusals.push(...closeAll([first, ...repeats], 'not-asked', quotaText(quota, limits)));
    else {
      requests.push(plan);
      if (isLimited(plan)) admitted += 1;
      joined.push(...closeAll(repeats, 'joined', joinedTo(first)));
    }
  }
  return { requests: requests.map(numbered), refusals, joined };
}

/** Tells a request its place among those of its turn. */
function numbered(request: NewRequest, index: number, all: readonly NewRequest[]): NewRequest {
  if (all.length === 1 || all.some(({ steps }) => steps !== undefined)) return request;
  const after = all[index - 1]?.id;
  const place = { number: index + 1, of: all.length, ...(after !== undefined && { after }) };
  return { ...request, details: { ...request.details, place } };
}

/** Groups identical calls, in the order of their first. The order of argument keys makes no difference. */
function joinIdentical(waiting: readonly WaitingCall[]): IdenticalCalls[] {
  const [only] = waiting;
  if (only !== undefined && waiting.length === 1) return [{ first: only, repeats: [] }];
  const joined = new Map<string, { first: WaitingCall; repeats: WaitingCall[] }>();
  for (const call of waiting) {
    const { name, input } = call.interrupt.toolRequest;
    const key = `${name} ${canonicalJson(input)}`;
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { first: call, repeats: [] });
    else known.repeats.push(call);
  }
  return [...joined.values()];
}

/** Finds the action that a call takes back, as its request keeps it. */
function undoneIn(messages: readonly Message[], { part }: WaitingCall) {
  const undone = undoneBy(messages, part.toolRequest.ref);
  return undone && { requestId: undone.requestId, title: undone.title };
}

function quotaText({ limit, waiting }: Quota, { pendingPerPerson, pendingPerThread }: PendingLimits): string {
  return limit === 'person'
    ? noticeTexts.personQuota(waiting, pendingPerPerson)
    : noticeTexts.threadQuota(waiting, pendingPerThread);
}

function closeAll(calls: readonly WaitingCall[], status: string, reason: string): CloseReply[] {
  return calls.map(({ interrupt }) => buildClose(interrupt, status, reason));
}

function joinedTo({ interrupt }: WaitingCall): string {
  return `Identical to call ${interrupt.toolRequest.ref}: people are asked once, and it runs once at most. See the result of that call.`;
}
