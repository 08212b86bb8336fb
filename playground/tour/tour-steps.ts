import type { Refund } from '../../examples/shop/ledger.ts';
import type { TourStep } from '../protocol.ts';
import type { RecordedRequest } from '../record-protocol.ts';
import { CHANNELS } from '../slack/default-cast.ts';
import { ACTS, KILL_MISSED, MORE_STEPS, SLOW_ORDER, type TourStepId, type TourText } from './tour-texts.ts';

/** Facts from the record, the ledger and the workspace; never the model's claims. */
export interface TourFacts {
  readonly requests: readonly RecordedRequest[];
  /** Number of kills with the button. */
  readonly kills: number;
  /** All entries of the ledger, from `readRefunds`. */
  readonly refunds: readonly Refund[];
  /** Messages that started a thread, from `readThreadOpenings`. */
  readonly openings: readonly ThreadOpening[];
}

/** The first message of a thread. */
export interface ThreadOpening {
  /** `<channel id>:<ts>` */
  readonly threadId: string;
  readonly text: string;
}

/** Condition on the record for a step to be done. */
type Condition = (request: RecordedRequest, all: readonly RecordedRequest[]) => boolean;

const CONDITIONS: Readonly<Record<Exclude<TourStepId, 'small-refund'>, Condition>> = {
  question: ({ kind, state }) => kind === 'question' && state === 'answered',
  'approved-refund': (request, all) =>
    request.tool === 'refund_order' && request.state === 'succeeded' && !wasEdited(request, all),
  // Idempotent, so it was tried again with the same key.
  plug: ({ tool, state, attempts }) => tool === 'refund_order' && state === 'succeeded' && attempts > 1,
  'two-people': ({ tool, state, votes }) =>
    tool === 'delete_customer' && state === 'succeeded' && countApprovers(votes) >= 2,
  edit: (request, all) => request.state === 'succeeded' && wasEdited(request, all),
  // No rejection is taken without a reason.
  reject: ({ kind, state }) => kind === 'approval' && state === 'rejected',
  expiry: ({ kind, state }) => kind === 'approval' && state === 'expired',
  passkey: ({ state, votes }) => state === 'succeeded' && votes.some(({ proof }) => proof !== undefined),
  kill: ({ tool, state, attempts }) =>
    tool === 'deploy_service' && (state === 'resolved' || (attempts > 1 && RAN.has(state))),
};

const RAN = new Set(['succeeded', 'failed']);
const RUNS = new Set(['approved', 'started', 'unknown']);

/** Builds the tour in order; a step is done when the facts show it, no matter who did it or where. */
export function tourSteps(facts: TourFacts): readonly TourStep[] {
  const asSteps = (texts: readonly TourText[], isAct: boolean) =>
    texts.map((text) => ({ ...tourStep(text, facts), isAct }));
  return [...asSteps(ACTS, true), ...asSteps(MORE_STEPS, false)];
}

function tourStep({ id, ...step }: TourText, facts: TourFacts): Omit<TourStep, 'isAct'> {
  const fitting = matchingRequests(id, facts.requests);
  const isDone = id === 'small-refund' ? hasUnapprovedRefund(facts) : fitting.length > 0;
  const thread = newestThread(openedWith(step.prompt, facts.openings)) ?? newestThread(fitting.map(threadOf));
  const hasMissed = step.next.some(({ kills }) => kills) && !isDone && killMissed(facts);
  return {
    id,
    ...step,
    text: hasMissed ? `${step.text} ${KILL_MISSED}` : step.text,
    channel: CHANNELS.general,
    isDone,
    ...(id === 'plug' && isDone && { result: describeEntries(facts), ledger: entriesOf(facts) }),
    ...(thread !== undefined && { thread }),
  };
}

/** Compares the ledger with the approvals of the order that was refunded while the bot was killed. */
function describeEntries(facts: TourFacts): string {
  const entries = entriesOf(facts).length;
  const payments = facts.requests.filter(
    ({ tool, state, input }) =>
      tool === 'refund_order' && state === 'succeeded' && JSON.stringify(input).includes(SLOW_ORDER),
  );
  const [only, second] = payments;
  if (only !== undefined && second === undefined && entries === 1)
    return `Ran once, after ${counted(only.attempts - 1, 'restart', 'restarts')}.`;
  return `${counted(entries, 'ledger entry', 'ledger entries')} for ${counted(payments.length, 'approved payment', 'approved payments')}.`;
}

function counted(number: number, one: string, more: string): string {
  return `${number} ${number === 1 ? one : more}`;
}

function entriesOf({ refunds }: TourFacts): readonly Refund[] {
  return refunds.filter(({ orderId }) => orderId === SLOW_ORDER);
}

function matchingRequests(id: TourStepId, all: readonly RecordedRequest[]): readonly RecordedRequest[] {
  return id === 'small-refund' ? [] : all.filter((request) => CONDITIONS[id](request, all));
}

/** True when a superseded request with another input precedes this one in its thread. */
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

/** True when the ledger has more refunds than approved requests, so at least one ran without approval. */
function hasUnapprovedRefund({ requests, refunds }: TourFacts): boolean {
  const approved = requests.filter(
    ({ tool, attempts, state }) => tool === 'refund_order' && attempts > 0 && state !== 'failed',
  );
  return refunds.length > approved.length;
}

function killMissed({ kills, requests }: TourFacts): boolean {
  return kills > 0 && !requests.some(({ kind, state }) => kind === 'approval' && RUNS.has(state));
}

function openedWith(prompt: string, openings: readonly ThreadOpening[]): readonly string[] {
  return openings.filter(({ text }) => text.includes(prompt)).map(({ threadId }) => threadId);
}

/** A request's id starts with the id of its thread. */
function threadOf({ id }: RecordedRequest): string {
  return id.slice(0, id.lastIndexOf('~'));
}

function newestThread(threads: readonly string[]): string | undefined {
  const timeOf = (thread: string) => Number(thread.slice(thread.lastIndexOf(':') + 1));
  return threads.toSorted((one, other) => timeOf(other) - timeOf(one))[0];
}
