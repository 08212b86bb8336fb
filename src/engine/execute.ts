import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EffectJournal } from '../agent/calls/journal.ts';
import { interruptsInside } from '../agent/calls/nested.ts';
import { answeredPart, settledPart } from '../agent/calls/outcomes.ts';
import { describeError } from '../agent/errors.ts';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { type Interrupt, MESSAGE_VERSION, sealMessage, type ToolPart } from '../agent/messages.ts';
import { buildRestart, checkOutput, type RestartReply } from '../agent/replies.ts';
import { restartAlone } from '../agent/settle.ts';
import type { Tool } from '../agent/tool.ts';
import { HandOverError } from '../agent/util/abort.ts';
import type { Attempt, Outcome, PlanStep, RequestRecord } from '../store/port/store.ts';
import { ALONE } from '../store/port/store.ts';
import { ALL_TOOLS, type Freeze, type FreezeStore } from '../store/port/workspace.ts';
import { callerId } from '../tools/callers.ts';
import { openWith } from '../tools/gate.ts';
import { resumedWith } from '../tools/pause.ts';
import { admit, type StartPlan } from './admit.ts';
import { parseCallerThread } from './caller-threads.ts';
import { decisionOf } from './choices.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import { isInTime, waitToRetry } from './outcomes.ts';
import { describePause } from './paused.ts';
import { isHolding, isOpenStep } from './plans.ts';
import type { EngineContext, ExecutorContext } from './ports.ts';
import { type Refusal, writeReason } from './reasons.ts';
import { callOf, type Details } from './request-details.ts';
import { type ApprovedRun, actionOf, approvedRun, doneBy, type Run } from './run.ts';

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

/** Returns the freeze that holds for a tool in a thread: that of all tools, its own, or that of the caller whose thread it is. */
export async function findFreeze(
  store: Pick<FreezeStore, 'readFreezes'>,
  tool: string,
  threadId: string,
): Promise<Freeze | undefined> {
  const { freezes } = await store.readFreezes();
  const caller = callerId(parseCallerThread(threadId)?.caller ?? '');
  const scopes = [ALL_TOOLS, tool, caller];
  return scopes.flatMap((wanted) => freezes.filter(({ scope }) => scope === wanted))[0];
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
  if (request.steps !== undefined) return advance(context, request, request.steps);
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

/** Makes the Run of an approved request, or of a step that rests on the approval of its plan. */
async function runOf(context: ExecutorContext, request: RequestRecord): Promise<ApprovedRun | undefined> {
  const { state, step } = request;
  if (state === 'approved') return approvedRun(context, request);
  if (state !== 'pending' || step === undefined || step.alone) return undefined;
  const plan = await context.store.load(step.plan);
  if (plan.outcome !== 'found' || plan.request.state !== 'approved') return undefined;
  const { by, votes, principals } = plan.request;
  return approvedRun(
    context,
    { ...request, by, principals },
    votes.filter(({ decision }) => decision === 'approve'),
    plan.request,
  );
}

/**
 * Takes a plan one step further, and is due again when that has ended. Each step is executed as any other request. The script that
 * starts one ends it if the plan has ended, or if another step holds the rest; when all have ended, so does the plan.
 */
async function advance(
  context: ExecutorContext,
  plan: RequestRecord,
  steps: readonly PlanStep[],
): Promise<void> {
  const { store } = context;
  const next = steps.find(isOpenStep);
  const isHeld = steps.some(isHolding);
  if (next === undefined) {
    await store.end(
      plan.id,
      isHeld ? { state: 'superseded', reason: 'held' } : { state: 'succeeded', reason: '' },
    );
    // One that has ended before its steps is not due any more.
    if (isHeld || plan.settledAt !== undefined) await store.end(plan.id, { state: 'succeeded', reason: '' });
    return;
  }
  if (plan.settledAt === undefined && !isHeld) {
    const isWaiting = next.state === 'pending' ? next.digest === ALONE : next.state !== 'approved';
    if (!isWaiting) return execute(context, next.id);
    // The plan is not due before this step has ended.
    await store.end(plan.id, { state: 'succeeded', reason: '' });
    return;
  }
  const waiting = steps.filter(({ state }) => state === 'pending' || state === 'approved');
  for (const { id } of waiting) await store.start(id, NO_ATTEMPT);
}

/** Asks the script to end a step whose plan does not hold any more. */
const NO_ATTEMPT: Attempt = {
  ...{ attempt: 'none', tool: '', digest: '', heartbeatTimeoutMs: 0, stillEligible: [], evidence: {} },
};

/** Describes the attempt that a start records. */
export function attemptOf(
  { timing }: { readonly timing: Pick<ExecutorContext['timing'], 'heartbeatTimeoutMs'> },
  run: ApprovedRun,
  { digest = '', approvers = NO_APPROVERS, uses }: StartPlan,
  attempt: string,
): Attempt {
  const { heartbeatTimeoutMs } = timing;
  const counts = { action: actionOf(run), limits: uses };
  return { attempt, tool: run.tool, digest, heartbeatTimeoutMs, ...approvers, counts, done: doneBy(run) };
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
      const claimedAt = performance.now();
      const finished = await store.finish(request.id, outcome, timing.leaseMs);
      heartbeat.stop();
      if (finished.outcome === 'finished' && finished.turn !== undefined)
        await context.continueThread(finished.turn, claimedAt, request.trace);
    } finally {
      heartbeat.stop();
    }
  });
}

async function runTool(
  context: ExecutorContext,
  run: ApprovedRun,
  attempt: string,
  heartbeat: Heartbeat,
): Promise<Outcome | { readonly unknown: string }> {
  const { request, details, entry } = run;
  if (entry === undefined) throw new Error(`The tool of request ${request.id} is gone`);
  const { tool } = entry;
  const own = details.policy?.own ?? false;
  const asked = classifyInterrupt(details.interrupt);
  const under = asked.kind === 'approval' ? { policy: asked.policy, rule: asked.rule } : null;
  const by = request.by ?? '';
  const decision = decisionOf(details.interrupt, request);
  if (decision?.reply === 'respond')
    return outcomeOf(context, run, attempt, respondedPart(tool, details, decision.output, by));
  const chosen = decision?.reply === 'restart' ? decision.resumed : undefined;
  const resumed = openWith(details.interrupt, { by, own, under }, chosen);
  // A call to a server that is cut off leaves its outcome unknown, so only code of this process is told to stop.
  const isOwnCode = entry.source === 'module' || entry.source === 'code';
  const stop = isOwnCode ? context.beginAction(request.id) : undefined;
  let unknown: string | undefined;
  const part = await restartAlone({
    ...context.toolSettings(run, details.idempotencyKey),
    ...(stop !== undefined && { signal: stop.signal, journal: startedJournal(tool) }),
    ...{ call: callOf(details), interrupt: details.interrupt, tool },
    reply: restartOf(tool, details.interrupt, resumed, resumedWith({ status: 'APPROVED' }, by, new Date())),
    onProgress: ({ message, fraction }) =>
      heartbeat.report(fraction === undefined ? message : `${message} (${Math.round(fraction * 100)} %)`),
    onToolError: ({ error, isUnknown }) => {
      if (isUnknown) unknown = describeError(error);
      context.logger.warn({ requestId: request.id, err: error }, 'approved action failed');
    },
  }).finally(() => stop?.end());
  if (unknown !== undefined) return { unknown };
  const outcome = outcomeOf(context, run, attempt, part);
  const isHandedOver = stop?.signal.reason instanceof HandOverError;
  // Another process tries an idempotent action again.
  if (isHandedOver && entry.execution.idempotent && 'state' in outcome && outcome.state === 'failed')
    return { unknown: stop.signal.reason.message };
  return outcome;
}

/** The longest time that a timer can have. */
const LONGEST_MS = 2 ** 31 - 1;

/** The journal of a call whose start and end are on record as those of its request. A stop leaves it its time, since it may still end. */
function startedJournal(tool: Tool): EffectJournal {
  return {
    stopGraceMs: (tool.kind === 'tool' ? tool.timeoutMs : undefined) ?? LONGEST_MS,
    recorded: async () => undefined,
    start: async () => true,
    finish: async () => {},
  };
}

/** Makes the output that approvers chose the result of a call whose tool only asks. */
function respondedPart(tool: Tool, details: Details, output: JsonValue, by: string): ToolPart {
  const call = callOf(details);
  return answeredPart(settledPart(call, 'ok', checkOutput(tool, call.toolRequest.ref, output)), by);
}

const Ended = z.object({ message: z.string() }).or(z.object({ reason: z.string() }));

/** Reads how an attempt ended from the result of its call. */
function outcomeOf(
  { toolbox }: Pick<ExecutorContext, 'toolbox'>,
  run: ApprovedRun,
  attempt: string,
  part: ToolPart,
): Outcome | { readonly unknown: string } {
  const message = sealMessage({ v: MESSAGE_VERSION, role: 'tool', content: [part] });
  if ('interrupt' in part)
    return {
      attempt,
      state: 'paused',
      message,
      summary: toJson(describePause(toolbox, part.interrupt, run)),
    };
  const summary = part.toolResponse.output;
  if (part.status === 'ok') return { attempt, state: 'succeeded', message, summary };
  if (run.attempts === 0) return { attempt, state: 'failed', message, summary };
  // That this attempt did nothing says nothing about the one before it.
  const { data } = Ended.safeParse(summary);
  return { unknown: data === undefined ? '' : 'message' in data ? data.message : data.reason };
}

/** Restarts the call; a `generate` inside it that paused continues with the calls that were approved, whose tools are behind no gate. */
function restartOf(tool: Tool, interrupt: Interrupt, resumed: JsonObject, inside: JsonObject): RestartReply {
  const reply = buildRestart(tool, interrupt, resumed, {});
  return { ...reply, metadata: { ...reply.metadata, ...restartInside(interrupt, inside) } };
}

function restartInside(interrupt: Interrupt, resumed: JsonObject): Pick<RestartReply['metadata'], 'nested'> {
  const inner = interruptsInside(interrupt);
  if (inner.length === 0) return {};
  const restart = inner.map((each) => {
    const { name, ref, input } = each.toolRequest;
    const deeper = restartInside(each, resumed);
    // A call that waits only for those inside it is not approved here.
    const metadata = { interruptId: each.id, ...(deeper.nested === undefined ? { resumed } : deeper) };
    return { toolRequest: { name, ref, input: toJson(input) }, metadata };
  });
  return { nested: { restart } };
}

/** The heartbeat of a running attempt. */
interface Heartbeat {
  /** Sets the progress that a later heartbeat carries. */
  report(progress: string): void;
  stop(): void;
}

/**
 * Sends heartbeats for an attempt until it is stopped. A heartbeat by itself changes no card. One carries progress, which changes the
 * card in the thread, at most once in `progressMs` and while updates are left; only the latest progress is kept.
 */
function startHeartbeat(
  { store, timing, updates, logger }: Pick<ExecutorContext, 'store' | 'timing' | 'updates' | 'logger'>,
  requestId: string,
  attempt: string,
): Heartbeat {
  let latest = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  const takeProgress = async (): Promise<string> => {
    const now = performance.now();
    if (latest === '' || now - shownAt < timing.progressMs) return '';
    shownAt = now;
    if (!(await updates.takeProgress())) return '';
    const progress = latest;
    latest = '';
    return progress;
  };
  const send = async (): Promise<void> => {
    try {
      await store.heartbeat(requestId, attempt, timing.heartbeatTimeoutMs, await takeProgress());
    } catch (err) {
      logger.warn({ requestId, err }, 'heartbeat failed');
    }
  };
  const timer = setInterval(() => void send(), timing.heartbeatMs);
  return {
    report: (text) => {
      latest = text;
    },
    stop: () => clearInterval(timer),
  };
}
