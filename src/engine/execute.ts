import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backOffMs } from '../agent/util/abort.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { FinishResult } from '../store/port/results.ts';
import type { Attempt, Outcome } from '../store/port/values.ts';
import { admit, type StartPlan } from './admit.ts';
import { findFreeze } from './freezes.ts';
import { startHeartbeat } from './heartbeat.ts';
import { isInTime, waitToRetry } from './outcomes.ts';
import type { EngineContext, ExecutorContext } from './ports.ts';
import { type Refusal, writeReason } from './reasons.ts';
import { type ApprovedRun, actionOf, approvedRun, doneBy, type Run } from './run.ts';
import { runTool } from './run-tool.ts';

/** The beginning of a Run: the reply of the script that starts it, or the reason why it may not start. */
export type Begun<Reply> =
  | {
      readonly outcome: 'begun';
      readonly reply: Reply;
      /** The time before the start was sent, by this process's monotonic clock. */
      readonly sentAt: number;
    }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  /** A worker has to begin it. */
  | { readonly outcome: 'slow' };

/**
 * Begins a Run: makes every check of the list, and lets a script check the rest and put the start on record in one step. It is the only
 * way to a start, for a click, a woken worker and a call in a turn. Throws if a check cannot be made now.
 */
export async function begin<Reply extends { readonly outcome: string; readonly index?: number }>(
  context: Pick<EngineContext, 'store' | 'toolbox' | 'people'>,
  run: Run,
  start: (plan: StartPlan) => Promise<Reply>,
  options: { readonly isQuick?: boolean } = {},
): Promise<Begun<Reply>> {
  const admission = await admit(context, run, options);
  if (admission.outcome !== 'admitted') return admission;
  const sentAt = performance.now();
  const reply = await start(admission.plan);
  const refusal = await refusalIn(context, run, admission.plan, reply);
  return refusal === undefined ? { outcome: 'begun', reply, sentAt } : { outcome: 'refused', refusal };
}

/** Reads the refusal of the script. One that has ended or held its request by itself needs nothing more. */
async function refusalIn(
  { store }: Pick<EngineContext, 'store'>,
  { tool, basis, threadId }: Run,
  { limits }: StartPlan,
  { outcome, index = -1 }: { readonly outcome: string; readonly index?: number },
): Promise<Refusal | undefined> {
  const limit = outcome === 'over' ? limits[index] : undefined;
  if (limit !== undefined) return { code: 'over-limit', limit };
  if (outcome === 'ungranted') return { code: 'ungranted' };
  if (outcome !== 'frozen' || basis === 'approval') return undefined;
  return { code: 'frozen', reason: (await findFreeze(store, tool, threadId))?.reason ?? '' };
}

/**
 * Executes an approved request: begins its Run, lets the tool act, and records how it ended. One that may not start ends, or is asked
 * anew; if it was started before, people are asked about its outcome.
 */
export async function execute(context: ExecutorContext, requestId: string): Promise<void> {
  const { store } = context;
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found') return;
  const { request } = loaded;
  const run = await runOf(context, request);
  if (run === undefined) return;
  // Before the script that puts it off, so that a crash between the two tells again.
  if (request.execution.elsewhere === true) await context.tellCaller(request);
  const attempt = randomUUID();
  const begun = await begin(context, run, (plan) =>
    store.start(requestId, attemptOf(context, run, plan, attempt)),
  );
  if (begun.outcome === 'refused')
    await store.end(requestId, { state: 'superseded', reason: writeReason(begun.refusal) });
  if (begun.outcome === 'begun' && begun.reply.outcome === 'started')
    await carryOut(context, run, { attempt, sentAt: begun.sentAt });
}

/** Makes the Run of an approved request; a plan is about several, each with an id of its own. What people approved may be the plan of a step. */
async function runOf(context: ExecutorContext, request: RequestRecord): Promise<ApprovedRun | undefined> {
  const { state, step, steps } = request;
  if (state !== 'approved' || steps !== undefined) return undefined;
  if (step === undefined || step.alone) return approvedRun(context, request);
  const plan = await context.store.load(step.plan);
  return plan.outcome === 'found' ? approvedRun(context, request, [], plan.request) : undefined;
}

/** Describes the attempt that a start records. */
export function attemptOf(
  { timing }: { readonly timing: Pick<ExecutorContext['timing'], 'heartbeatTimeoutMs'> },
  run: ApprovedRun,
  { digest = '', approvers = NO_APPROVERS, uses, freeze }: StartPlan,
  attempt: string,
): Attempt {
  const { heartbeatTimeoutMs } = timing;
  const counts = { action: actionOf(run), limits: uses };
  const started = { attempt, tool: run.tool, digest, heartbeatTimeoutMs, ...approvers, counts };
  return { ...started, done: doneBy(run), ...(freeze !== undefined && { frozenBy: freeze.name }) };
}

const NO_APPROVERS = { stillEligible: [], evidence: {} };

/** An attempt that is on record as started. */
interface StartedAttempt {
  readonly attempt: string;
  readonly sentAt: number;
}

/** Carries out a started Run: tool, then finish, then the thread's next turn if no other request of the round is open. */
export function carryOut(
  context: ExecutorContext,
  run: ApprovedRun,
  { attempt, sentAt }: StartedAttempt,
): Promise<void> {
  const { store, timing } = context;
  const { request } = run;
  return context.inTrace(request, async () => {
    if (!isInTime(sentAt, timing.heartbeatTimeoutMs))
      throw new Error('The start was answered too late to act on it');
    const heartbeat = startHeartbeat(context, request.id, attempt);
    try {
      const outcome = await runTool(context, run, attempt, heartbeat);
      if ('unknown' in outcome) {
        // An idempotent action is tried again after a while; for any other people are asked.
        if (run.entry?.execution.idempotent === true) await waitToRetry(request.attempts + 1);
        const reason = writeReason({ code: 'in-doubt', error: outcome.unknown });
        await store.recover(request.id, { attempt, reason });
        return;
      }
      const { finished, claimedAt } = await reportEnd(context, request.id, outcome);
      heartbeat.stop();
      if (finished.outcome === 'finished' && finished.turn !== undefined)
        await context.continueThread(finished.turn, claimedAt, request.trace);
    } finally {
      heartbeat.stop();
    }
  });
}

const REPORT_BACK_OFF = { firstMs: 250, longestMs: 5_000 };
const REPORT_FOR_MS = 3_600_000;

/**
 * Records how an attempt ended. While the record does not answer, the result is kept and reported again: an attempt that was given up
 * as unknown meanwhile has its result then.
 */
async function reportEnd(
  { store, timing, logger }: Pick<ExecutorContext, 'store' | 'timing' | 'logger'>,
  requestId: string,
  outcome: Outcome,
): Promise<{ readonly finished: FinishResult; readonly claimedAt: number }> {
  const endedAt = performance.now();
  for (let failures = 1; ; failures += 1) {
    const claimedAt = performance.now();
    try {
      return { finished: await store.finish(requestId, outcome, timing.leaseMs), claimedAt };
    } catch (err) {
      if (claimedAt - endedAt > REPORT_FOR_MS) throw err;
      logger.warn({ requestId, err }, 'outcome not recorded, will retry');
      await sleep(backOffMs(failures, REPORT_BACK_OFF), undefined, { ref: false });
    }
  }
}
