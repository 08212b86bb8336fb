import type { TourStep } from '../protocol.ts';
import type { RecordedRequest } from '../record-protocol.ts';
import { CHANNELS } from '../slack/default-cast.ts';
import { KILL_MISSED, TOUR_TEXTS, type TourStepId } from './tour-texts.ts';

/** What has happened so far, by the record, the ledger and the workspace; never by what the model claims. */
export interface TourFacts {
  readonly requests: readonly RecordedRequest[];
  /** How often the bot was killed with the button. */
  readonly kills: number;
  /** The amounts of all refunds that the ledger has booked, in cents, signed or not; `readRefunds` gives them. */
  readonly refunds: readonly number[];
  /** What people said to begin a thread; `readOpenings` gives them. */
  readonly openings: readonly ThreadOpening[];
}

/** The message with which somebody began a thread. */
export interface ThreadOpening {
  /** `<channel id>:<ts>` */
  readonly threadId: string;
  readonly text: string;
}

/** What the record must hold for a step to be done; a step without one leaves nothing there. */
type Condition = (request: RecordedRequest, all: readonly RecordedRequest[]) => boolean;

const CONDITIONS: Readonly<Record<Exclude<TourStepId, 'small-refund'>, Condition>> = {
  question: ({ kind, state }) => kind === 'question' && state === 'answered',
  'approved-refund': (request, all) =>
    request.tool === 'refund_order' && request.state === 'succeeded' && !wasEdited(request, all),
  'two-people': ({ tool, state, votes }) =>
    tool === 'delete_customer' && state === 'succeeded' && countApprovers(votes) >= 2,
  edit: (request, all) => request.state === 'succeeded' && wasEdited(request, all),
  // No rejection is taken without a reason.
  reject: ({ kind, state }) => kind === 'approval' && state === 'rejected',
  expiry: ({ kind, state }) => kind === 'approval' && state === 'expired',
  kill: ({ tool, state, attempts }) =>
    tool === 'deploy_service' && (state === 'resolved' || (attempts > 1 && RAN.has(state))),
};

const RAN = new Set(['succeeded', 'failed']);
const RUNS = new Set(['approved', 'started', 'unknown']);

/** The guided first five minutes in order; a step is done when the facts show it, whoever did it and wherever. */
export function tourSteps(facts: TourFacts): readonly TourStep[] {
  return TOUR_TEXTS.map(({ id, ...step }) => {
    const fitting = matchingRequests(id, facts.requests);
    const isDone = id === 'small-refund' ? hasUnapprovedRefund(facts) : fitting.length > 0;
    const thread = newestThread([...openedWith(step.prompt, facts.openings), ...fitting.map(threadOf)]);
    const text = id === 'kill' && !isDone && killMissed(facts) ? `${step.text} ${KILL_MISSED}` : step.text;
    return {
      id,
      ...step,
      text,
      channel: CHANNELS.general,
      offersKill: id === 'kill',
      isDone,
      ...(thread !== undefined && { thread }),
    };
  });
}

function matchingRequests(id: TourStepId, all: readonly RecordedRequest[]): readonly RecordedRequest[] {
  return id === 'small-refund' ? [] : all.filter((request) => CONDITIONS[id](request, all));
}

/** An edit leaves a superseded request behind; one that was superseded for another reason asked for the same. */
function wasEdited(request: RecordedRequest, all: readonly RecordedRequest[]): boolean {
  return all.some(
    (earlier) =>
      earlier.state === 'superseded' &&
      earlier.tool === request.tool &&
      earlier.createdAt <= request.createdAt &&
      threadOf(earlier) === threadOf(request) &&
      JSON.stringify(earlier.input) !== JSON.stringify(request.input),
  );
}

function countApprovers(votes: RecordedRequest['votes']): number {
  return new Set(votes.filter(({ decision }) => decision === 'approve').map(({ who }) => who)).size;
}

/** What was signed is on record as a request, so a booking beyond those ran without one. */
function hasUnapprovedRefund({ requests, refunds }: TourFacts): boolean {
  const signed = requests.filter(
    ({ tool, attempts, state }) => tool === 'refund_order' && attempts > 0 && state !== 'failed',
  );
  return refunds.length > signed.length;
}

function killMissed({ kills, requests }: TourFacts): boolean {
  return kills > 0 && !requests.some(({ tool, state }) => tool === 'deploy_service' && RUNS.has(state));
}

function openedWith(prompt: string, openings: readonly ThreadOpening[]): readonly string[] {
  return openings.filter(({ text }) => text.includes(prompt)).map(({ threadId }) => threadId);
}

/** A request's id begins with its thread's. */
function threadOf({ id }: RecordedRequest): string {
  return id.slice(0, id.lastIndexOf('~'));
}

function newestThread(threads: readonly string[]): string | undefined {
  const timeOf = (thread: string) => Number(thread.slice(thread.lastIndexOf(':') + 1));
  return threads.toSorted((one, other) => timeOf(other) - timeOf(one))[0];
}
