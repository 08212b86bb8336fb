import { hash, randomUUID } from 'node:crypto';
import { canonicalJson, type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import type { Message } from '../agent/messages.ts';
import type { ModelReply, RawCall } from '../agent/model.ts';
import { effectiveInput } from '../agent/schema/compile-schema.ts';
import type { CallState } from '../agent/transcript.ts';
import { planText } from '../policy/digest.ts';
import { riskOf } from '../policy/policy.ts';
import { interruptOf } from '../store/port/keys.ts';
import {
  type PlanStep,
  type RequestRecord,
  resolutionOf,
  type StepState,
} from '../store/port/request-record.ts';
import type { Settlement } from '../store/port/values.ts';
import { PlanInput, PROPOSE_PLAN } from '../tools/built-ins.ts';
import type { CallPlace } from '../tools/gate.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { readDetails } from './request-details.ts';

/** Stands in place of a rule for a plan, and for a step that no rule asks about any more. */
export const PLAN_RULE = 'a plan of several steps';

/** Returns the ref of a step of a plan. */
export function stepRef(planRef: string, number: number): string {
  return `step_${hash('sha256', `${planRef} ${number}`).slice(0, 32)}`;
}

/**
 * Puts the calls of a proposed plan beside it, as if the model had made them in the same answer: each has its own gate, request and
 * result. A plan that people cannot be asked for is left as it is, and its own call says why. With `collect`, several calls that need
 * approval become a plan by themselves. With `ref`, the plan has that one.
 */
export function withSteps(
  toolbox: Toolbox,
  place: CallPlace,
  reply: ModelReply,
  { collect = false, ref }: { readonly collect?: boolean | undefined; readonly ref?: string } = {},
): ModelReply {
  const at = reply.calls.findIndex(({ name }) => name === PROPOSE_PLAN);
  const proposed = reply.calls[at];
  const { data: plan } = PlanInput.safeParse(tryParseJson(proposed?.arguments ?? ''));
  const isSound = (each: PlanInput) => planProblem(toolbox, place, each) === undefined;
  if (proposed !== undefined)
    return plan !== undefined && isSound(plan)
      ? writePlan(reply, plan, { before: reply.calls.slice(0, at), after: reply.calls.slice(at + 1), ref })
      : reply;
  const gated =
    collect && reply.finish === 'stop' ? reply.calls.filter((call) => isGated(toolbox, place, call)) : [];
  const collected = PlanInput.safeParse({
    goal: reply.text.trim().slice(0, COLLECTED_GOAL) || COLLECTED,
    steps: gated.map(({ name, arguments: input }) => ({ tool: name, input: tryParseJson(input) })),
  }).data;
  if (collected === undefined || !isSound(collected)) return reply;
  return writePlan(reply, collected, {
    before: reply.calls.filter((call) => !gated.includes(call)),
    after: [],
  });
}

/** Stands in place of the goal where the model said nothing beside its calls. */
const COLLECTED = 'Several calls of one answer';
const COLLECTED_GOAL = 300;

function isGated(toolbox: Toolbox, place: CallPlace, { name, arguments: input }: RawCall): boolean {
  const given = tryParseJson(input);
  const entry = toolbox.find(name);
  if (entry === undefined || entry.source === 'built-in' || given === undefined) return false;
  return entry.judge(effectiveInput(entry.tool.inputSchema, given), place).outcome === 'ask';
}

/** Writes an answer with a plan and its steps, between its other calls. */
function writePlan(
  reply: ModelReply,
  plan: PlanInput,
  {
    before,
    after,
    ref: id = `plan_${randomUUID().replaceAll('-', '')}`,
  }: {
    readonly before: readonly RawCall[];
    readonly after: readonly RawCall[];
    readonly ref?: string | undefined;
  },
): ModelReply {
  const steps = plan.steps.map(({ tool, input }, index) => ({
    id: stepRef(id, index + 1),
    name: tool,
    arguments: JSON.stringify(input),
  }));
  // What the provider wants back would not fit these calls.
  const { provider: _provider, ...rest } = reply;
  const proposal = { id, name: PROPOSE_PLAN, arguments: JSON.stringify(plan) };
  return { ...rest, calls: [...before, proposal, ...steps, ...after] };
}

/** Finds a text that stands for the result of another step. */
const RESULT_OF_STEP = /\{\{\s*steps\.(\d+)/;

/** Says in one sentence why people cannot be asked for a plan; `undefined` if they can. */
export function planProblem(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  place: CallPlace,
  { steps }: PlanInput,
): string | undefined {
  const seen = new Map<string, number>();
  let covered = 0;
  for (const [index, { tool: name, input: planned }] of steps.entries()) {
    const number = index + 1;
    const step = `Step ${number} (${name})`;
    const entry = toolbox.find(name);
    if (name === PROPOSE_PLAN) return `${step} is a plan itself. A plan has calls of other tools only.`;
    if (entry?.tool.kind !== 'tool' || entry.source === 'built-in')
      return `${step}: there is no such tool for a plan.`;
    const [, earlier] = RESULT_OF_STEP.exec(JSON.stringify(planned)) ?? [];
    if (earlier !== undefined)
      return `${step}: A plan has exact arguments. Ask for this step after step ${earlier} has ended.`;
    const fit = entry.tool.inputSchema.parse(toJson(planned));
    if (!fit.ok) return `${step}: the input does not fit the schema at "${fit.field}": ${fit.problem}`;
    if (!entry.allows(place)) return `${step} may not be used here.`;
    const input = effectiveInput(entry.tool.inputSchema, toJson(planned));
    const key = `${name} ${canonicalJson(input)}`;
    const same = seen.get(key);
    if (same !== undefined) return `Steps ${same} and ${number} are the same call.`;
    seen.set(key, number);
    const verdict = entry.judge(input, place);
    if (verdict.outcome === 'deny') return `${step} is not allowed: ${verdict.reason}`;
    if (verdict.outcome === 'run') return `${step} needs no approval. Call it yourself, outside the plan.`;
    if (mayBeInPlan(toolbox, entry, { input, place, policy: verdict.policy })) covered += 1;
  }
  if (covered < 2)
    return 'Fewer than two of these steps may be approved together: the others are of high risk or cannot be taken back. Call the tools one by one instead.';
  return undefined;
}

/** A call as the rule for plans judges it. */
interface PlannedCall {
  readonly input: JsonValue;
  readonly place: CallPlace;
  /** The policy that its own rules ask. */
  readonly policy: string;
}

/**
 * Tells whether the approval of a plan may cover a call. One of high risk, one that nothing takes back, and one that says itself who
 * approves it, is always asked alone, and the plan waits there.
 */
export function mayBeInPlan(
  toolbox: Pick<Toolbox, 'policy'>,
  { tool, reversible }: Pick<ToolEntry, 'tool' | 'reversible'>,
  { input, place, policy: name }: PlannedCall,
): boolean {
  const policy = toolbox.policy(name);
  if (policy === undefined || reversible === 'no') return false;
  // Those who approve a plan are the same for all of it.
  if (policy.groups.some(({ from }) => from !== undefined) || policy.excludedFrom !== undefined) return false;
  const { timeZone, risk } = policy;
  return riskOf(risk, { tool: tool.name, input, reversible, ...place, timeZone }) !== 'high';
}

/** Tells whether a call of the latest round is a step of a plan there. It never runs in its turn. */
export function isStep(messages: readonly Message[], ref: string): boolean {
  const last = messages.findLast(({ role }) => role === 'model');
  if (last?.role !== 'model') return false;
  return last.content.some((part) => {
    if (!('toolRequest' in part) || part.toolRequest.name !== PROPOSE_PLAN) return false;
    const { ref: plan, input } = part.toolRequest;
    return stepsIn(input).some((_, index) => stepRef(plan, index + 1) === ref);
  });
}

/** Reads the steps of the call that proposed a plan; none if it cannot be read. */
export function stepsIn(input: unknown): PlanInput['steps'] {
  return PlanInput.safeParse(input).data?.steps ?? [];
}

/** Binds a plan to the ordered list of what its approval lets run: the plan as it is shown, and the digest of each step in it. */
export function planDigest(
  shown: string,
  steps: readonly Pick<PlanStep, 'number' | 'digest'>[],
  chosen?: readonly number[],
): string {
  return hash('sha256', planText(shown, steps, chosen));
}

/** Tells whether what people approved lets these bytes run: a plan has the digests of its steps. */
export function isBound(
  { digest, steps, details }: Pick<RequestRecord, 'digest' | 'steps' | 'details'>,
  run: Pick<RequestRecord, 'digest'>,
): boolean {
  if (steps === undefined) return digest === run.digest;
  const chosen = steps.filter(({ isChosen }) => isChosen);
  const numbers = chosen.map(({ number }) => number);
  const isListed = chosen.some((step) => step.digest === run.digest);
  return isListed && digest === planDigest(readDetails({ details })?.shown ?? '', steps, numbers);
}

const OPEN: readonly StepState[] = ['pending', 'approved', 'started', 'unknown'];

/** Tells whether a step of a plan has not ended. */
export function isOpenStep({ state }: Pick<PlanStep, 'state'>): boolean {
  return OPEN.includes(state);
}

/** The end of each step of a plan, for the model. */
export interface PlanOutcome {
  readonly outcome: 'done' | 'stopped';
  readonly steps: readonly { readonly tool: string; readonly outcome: string }[];
}

/** Lists how each step of a plan ended, from the results and the ended requests of its round. */
export function planOutcome(
  planRef: string,
  input: unknown,
  round: ReadonlyMap<string, CallState>,
  settled: readonly Settlement[],
): PlanOutcome {
  const steps = stepsIn(input).map(({ tool }, index) => {
    const call = round.get(stepRef(planRef, index + 1));
    const interrupt = call?.state === 'waiting' ? call.interrupt.id : undefined;
    const end = settled.find(({ requestId }) => interruptOf(requestId) === interrupt);
    return { tool, outcome: outcomeOf(call, end) };
  });
  return { outcome: steps.every(({ outcome }) => outcome === 'succeeded') ? 'done' : 'stopped', steps };
}

function outcomeOf(call: CallState | undefined, end: Settlement | undefined): string {
  if (call?.state === 'settled') return call.response.status === 'ok' ? 'succeeded' : 'did not succeed';
  if (end === undefined) return 'not run';
  if (end.state === 'resolved')
    return resolutionOf(end.payload).verdict === 'ran' ? 'succeeded' : 'did not run';
  return end.state === 'rejected' && end.payload === 'not-chosen' ? 'not chosen' : end.state;
}
