import { type JsonValue, toJson } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { buildClose, type CloseReply } from '../../../agent/replies.ts';
import type { CallState } from '../../../agent/transcript.ts';
import { classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import type { RequestOrigin } from '../../../engine/facets/facet.ts';
import { facetsOfStep } from '../../../engine/facets/facets.ts';
import { innerCalls } from '../../../engine/inner-calls.ts';
import type { LimitShown, PlannedSteps } from '../../../engine/planned-steps.ts';
import { mayBeInPlan, stepRef, stepsIn } from '../../../engine/plans.ts';
import { channelOf } from '../../../engine/ports.ts';
import { detailsOf } from '../../../engine/request-details.ts';
import { fittingCalls, mayExceed, usesOf } from '../../../policy/limits.ts';
import { RISK_LEVELS, strictestPolicy } from '../../../policy/policy.ts';
import { requestIdOf } from '../../../store/port/keys.ts';
import type { NewRequest } from '../../../store/port/request-record.ts';
import { PLAN_PAUSE, PlanInput } from '../../../tools/built-ins.ts';
import type { CallPlace } from '../../../tools/gate.ts';
import { isWholePlan } from '../../views/facets/plan-lines.ts';
import { planTexts } from '../../views/texts/plans.ts';
import type { PlanContext } from './plan-context.ts';
import { planRequest } from './plan-request.ts';
import { presentCall } from './present-call.ts';

/** A waiting call of the latest round. */
export interface WaitingCall {
  readonly part: CallPart;
  readonly interrupt: Interrupt<string, JsonValue>;
}

/** A plan that waits, with those of its steps that wait too. */
interface ProposedPlan {
  readonly call: WaitingCall;
  readonly steps: readonly {
    readonly call: WaitingCall;
    readonly policy: string;
    readonly overLimit: boolean;
  }[];
  /** The steps that have their results. */
  readonly ended: readonly (CallState & { readonly state: 'settled' })[];
  /** Why its steps are not asked about: a gate has denied one, for example, or one has begun and waits for people. */
  readonly problem: string | undefined;
}

/** Finds the plan of a round; its steps are the calls that were put beside it. */
export function proposedPlan(
  waiting: readonly WaitingCall[],
  round: ReadonlyMap<string, CallState>,
): ProposedPlan | undefined {
  const call = waiting.find(({ interrupt }) => classifyInterrupt(interrupt).kind === 'plan');
  if (call === undefined) return undefined;
  const { ref, input } = call.part.toolRequest;
  const refs = stepsIn(input).map((_, index) => stepRef(ref, index + 1));
  const steps = refs.flatMap((step) => {
    const found = waiting.find(({ part }) => part.toolRequest.ref === step);
    const pause = found && classifyInterrupt(found.interrupt);
    const isOwn = pause?.kind !== 'approval' || pause.own || innerCalls(found?.interrupt ?? call.interrupt);
    if (found === undefined || pause?.kind !== 'approval' || isOwn) return [];
    return [{ call: found, policy: pause.policy, overLimit: pause.overLimit === true }];
  });
  const ended = refs.flatMap((step) => {
    const found = round.get(step);
    return found?.state === 'settled' ? [found] : [];
  });
  const isNew = call.interrupt.metadata?.[PLAN_PAUSE] === 'new';
  const isWhole = steps.length + ended.length === refs.length && !(isNew && ended.length > 0);
  // A step that has begun has not run yet, and nothing after it may run before.
  const problem = isWhole ? undefined : isNew ? planTexts.broken : planTexts.paused;
  return { call, steps, ended, problem };
}

/** The requests of a plan: its own, those of its steps; or why nobody is asked. */
interface PlannedRequests {
  readonly requests: readonly NewRequest[];
  /** The number of those that people are asked about. */
  readonly asked: number;
  readonly closed: readonly CloseReply[];
  readonly problem?: string;
}

const NOTHING: PlannedRequests = { requests: [], asked: 0, closed: [] };

/**
 * Plans one request for all steps of a plan, under a policy that is at least as strict as that of each, and a request without a card for
 * each step. A step that no plan may cover is asked by itself at once, and waits for its turn. A single step that is left is asked as usual.
 */
export async function planSteps(
  context: PlanContext,
  origin: RequestOrigin,
  { call, steps, ended, problem }: ProposedPlan,
): Promise<PlannedRequests> {
  const { toolbox } = context;
  if (problem !== undefined) return { ...NOTHING, problem };
  const { threadId, requesters, contextAuthors } = origin;
  const place = { requesters, contextAuthors, channel: channelOf(threadId) };
  const placed = steps.map((step) => {
    const { name, input } = step.call.interrupt.toolRequest;
    const entry = toolbox.find(name);
    const judged = { input: toJson(input), place, policy: step.policy };
    const isCovered = !step.overLimit && entry !== undefined && mayBeInPlan(toolbox, entry, judged);
    return { ...step, isCovered };
  });
  const covered = placed.filter(({ isCovered }) => isCovered);
  const isSingle = placed.length < 2 || covered.length === 0;
  if (isSingle) return askSingly(context, origin, { call, steps });
  const policy = strictestPolicy(
    covered.map((step) => step.policy),
    (name) => toolbox.policy(name),
  );
  const plan = requestIdOf(threadId, call.interrupt.id);
  const requests: NewRequest[] = [];
  for (const [index, { call: step, isCovered }] of placed.entries()) {
    const part = isCovered ? { policy } : undefined;
    const request = await planRequest(context, origin, step.part, step.interrupt, part);
    if ('unaskable' in request)
      return { ...NOTHING, problem: planTexts.problem(index + 1, request.unaskable) };
    requests.push({ ...request, step: { plan, number: index + 1, alone: !isCovered } });
  }
  const fits = await fittingSteps(context, place, covered, policy);
  const shown: PlannedSteps = {
    goal: PlanInput.safeParse(call.part.toolRequest.input).data?.goal ?? '',
    steps: requests.map(shownStep),
    ...(ended.length > 0 && { before: await presentEnded(context, ended) }),
  };
  if (!isWholePlan(shown)) return { ...NOTHING, problem: planTexts.tooLong };
  const own = requests.filter(({ step }) => step?.alone === false).map((request) => detailsOf(request));
  const title = planTexts.title(covered.length);
  const request = await planRequest(context, origin, call.part, call.interrupt, {
    policy,
    plan: {
      presented: {
        title,
        done: planTexts.done(covered.length),
        fields: [],
        hasTitle: true,
        isComplete: true,
      },
      risk: RISK_LEVELS.findLast((level) => own.some((each) => each.policy?.risk === level)) ?? 'high',
      because: [...new Set(own.map(({ facets }) => facets.reason?.because ?? ''))].join(' · '),
      shown,
      fits,
      steps: requests.map(({ id, digest, step }) => ({
        id,
        digest,
        ...(step?.alone === true && { alone: true }),
      })),
    },
  });
  if ('unaskable' in request) return { ...NOTHING, problem: request.unaskable };
  return { requests: [request, ...requests], asked: 1 + placed.length - covered.length, closed: [] };
}

/** Counts the covered steps that fit what their limits have left now; each counts at its start, so this is what people can expect. */
async function fittingSteps(
  { toolbox, store }: PlanContext,
  place: CallPlace,
  covered: readonly { readonly call: WaitingCall }[],
  policy: string,
): Promise<LimitShown | undefined> {
  const row = covered.map(({ call: { interrupt } }) => {
    const { name, input } = interrupt.toolRequest;
    const { limits = [], reversible } = toolbox.find(name) ?? {};
    const uses = usesOf(limits, {
      tool: name,
      input: toJson(input),
      approved: true,
      reversible,
      ...place,
      contextAuthors: [],
    });
    return uses.filter(({ limit }) => !mayExceed(limit, policy, (each) => toolbox.policy(each)));
  });
  if (row.every(({ length }) => length === 0)) return undefined;
  const found = await fittingCalls(row, (limits) => store.readTotals(limits));
  if (found === undefined) return undefined;
  const { sum, per, windowMs, calendar, max, shownMax } = found.limit;
  const limit = {
    per,
    windowMs,
    max,
    ...(shownMax !== undefined && { shownMax }),
    ...(sum !== undefined && { sum }),
    ...(calendar && { calendar }),
  };
  return { steps: found.calls, limit };
}

/** Plans a request for each step that is left, without a plan. */
async function askSingly(
  context: PlanContext,
  origin: RequestOrigin,
  { call, steps }: Pick<ProposedPlan, 'call' | 'steps'>,
): Promise<PlannedRequests> {
  const requests: NewRequest[] = [];
  for (const [index, { call: step }] of steps.entries()) {
    const request = await planRequest(context, origin, step.part, step.interrupt);
    if ('unaskable' in request)
      return { ...NOTHING, problem: planTexts.problem(index + 1, request.unaskable) };
    requests.push(request);
  }
  if (requests.length === 0) return { ...NOTHING, problem: planTexts.oneAtATime };
  return {
    requests,
    asked: requests.length,
    closed: [buildClose(call.interrupt, 'stopped', planTexts.singly)],
  };
}

/** Copies what a plan's card shows of a step. */
function shownStep(request: NewRequest): PlannedSteps['steps'][number] {
  const { presented, interrupt, facets } = detailsOf(request);
  const { number = 0, alone = false } = request.step ?? {};
  const { name: tool, input } = interrupt.toolRequest;
  return {
    id: request.id,
    number,
    alone,
    tool,
    input: toJson(input),
    presented,
    facets: facetsOfStep(facets),
  };
}

/** Puts the steps of a plan that stopped into words, with how each ended. */
async function presentEnded(
  { toolbox, directory }: PlanContext,
  ended: ProposedPlan['ended'],
): Promise<NonNullable<PlannedSteps['before']>> {
  return Promise.all(
    ended.map(async ({ part, response }) => {
      const entry = toolbox.find(part.toolRequest.name);
      const presented =
        entry && (await presentCall(directory, entry, response.input ?? part.toolRequest.input));
      return { title: presented?.title ?? part.toolRequest.name, outcome: response.status };
    }),
  );
}
