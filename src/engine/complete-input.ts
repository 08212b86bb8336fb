import { canonicalJson, type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import { effectiveInput } from '../agent/schema/compile-schema.ts';
import { boundProblem, compileCondition } from '../policy/condition.ts';
import { firstOfFacts } from '../policy/first-times.ts';
import { policiesNamed, RISK_LEVELS, riskOf } from '../policy/policy.ts';
import type { RequestRecord, Store } from '../store/port/store.ts';
import type { CallPlace } from '../tools/gate.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import { mayBeInPlan, stepRef, stepsIn } from './plans.ts';
import type { Refusal } from './reasons.ts';
import { referencesIn, replaceReferences, valueIn } from './references.ts';
import { type Details, readDetails } from './request-details.ts';

/** The whole input of a step, with the bounds that it must keep; `undefined` input means that a value is missing. */
export interface CompletedInput {
  readonly input: JsonValue | undefined;
  readonly bounds: readonly string[];
}

/**
 * Completes the input of a step from the outputs that earlier steps have on record; `undefined` for a request whose input is whole. The same
 * record gives the same input, for every attempt and long after. Only a step that succeeded has an output.
 */
export async function completeInput(
  { store }: { readonly store: Pick<Store, 'load'> },
  { step }: Pick<RequestRecord, 'step'>,
  { deferred, interrupt }: Details,
): Promise<CompletedInput | undefined> {
  if (deferred !== true) return undefined;
  const nothing = { input: undefined, bounds: [] };
  const loaded = step === undefined ? undefined : await store.load(step.plan);
  const proposal =
    loaded?.outcome === 'found' ? readDetails(loaded.request)?.interrupt.toolRequest : undefined;
  if (loaded?.outcome !== 'found' || proposal === undefined) return nothing;
  const proposed = stepsIn(proposal.input);
  const own = proposed.findIndex(
    (_, index) => stepRef(proposal.ref, index + 1) === interrupt.toolRequest.ref,
  );
  const { input, bounds = [] } = proposed[own] ?? {};
  const template = toJson(interrupt.toolRequest.input);
  if (input === undefined || canonicalJson(toJson(input)) !== canonicalJson(template)) return nothing;
  const outputs = new Map<number, JsonValue>();
  for (const number of new Set(referencesIn(template).map((reference) => reference.step))) {
    const earlier = number > own ? undefined : loaded.request.steps?.[number - 1];
    const source = earlier && (await store.load(earlier.id));
    if (source?.outcome !== 'found' || source.request.state !== 'succeeded') return nothing;
    const { ref } = readDetails(source.request)?.interrupt.toolRequest ?? {};
    const output = tryParseJson(source.request.payload ?? '');
    if (ref !== stepRef(proposal.ref, number) || output === undefined) return nothing;
    outputs.set(number, output);
  }
  const completed = replaceReferences(template, ({ step: number, path }) => {
    const output = outputs.get(number);
    return output === undefined ? undefined : valueIn(output, path);
  });
  return { input: completed, bounds };
}

/** A step about to start, with its whole input. */
interface CompletedStep {
  readonly entry: ToolEntry | undefined;
  readonly details: Details;
  readonly completed?: CompletedInput | undefined;
}

/**
 * Refuses a step whose whole input does not fit its tool, breaks a bound, or would ask for more than people approved: another policy, a
 * higher risk, or an approval of its own. What cannot be decided is refused.
 */
export async function incompleteStep(
  toolbox: Pick<Toolbox, 'policy'>,
  { entry, details, completed }: CompletedStep,
  place: CallPlace,
): Promise<Refusal | undefined> {
  if (details.deferred !== true) return undefined;
  const refuse = (problem: Extract<Refusal, { code: 'incomplete' }>['problem'], input?: JsonValue) =>
    ({ code: 'incomplete', problem, ...(input !== undefined && { input }) }) as const;
  if (entry === undefined || completed?.input === undefined) return refuse('missing');
  const { inputSchema } = entry.tool;
  if (!inputSchema.parse(completed.input).ok) return refuse('unfit');
  const input = effectiveInput(inputSchema, completed.input);
  // People have not seen what a default would add, nor what the schema leaves out.
  if (canonicalJson(input) !== canonicalJson(completed.input)) return refuse('unfit', input);
  const isWithin = (bound: string) =>
    boundProblem(bound) === undefined &&
    compileCondition(bound)({ input, requester: '', channel: '', tool: entry.tool.name }) === true;
  if (!completed.bounds.every(isWithin)) return refuse('bound', input);
  const judged = { ...place, firstOf: firstOfFacts(await entry.readFirst?.(input, place)) };
  return isAsApproved(toolbox, { entry, details, input }, judged) ? undefined : refuse('stricter', input);
}

/** Tells whether the rules ask for no more than they did when the plan was approved. */
function isAsApproved(
  toolbox: Pick<Toolbox, 'policy'>,
  {
    entry,
    details,
    input,
  }: { readonly entry: ToolEntry; readonly details: Details; readonly input: JsonValue },
  place: CallPlace,
): boolean {
  const asked = classifyInterrupt(details.interrupt);
  const { name = '', risk } = details.policy ?? {};
  const approved = toolbox.policy(name);
  const verdict = entry.judge(input, place);
  if (asked.kind !== 'approval' || approved === undefined || risk === undefined) return false;
  if (verdict.outcome === 'deny') return false;
  const { reversible, tool } = entry;
  const policies = verdict.outcome === 'ask' ? policiesNamed(verdict.policy) : [];
  const known = [...policiesNamed(asked.policy), ...policiesNamed(name)];
  if (!policies.every((policy) => known.includes(policy))) return false;
  if (
    !mayBeInPlan(toolbox, entry, { input, place, policy: verdict.outcome === 'ask' ? verdict.policy : name })
  )
    return false;
  const now = riskOf(approved.risk, {
    tool: tool.name,
    input,
    reversible,
    ...place,
    timeZone: approved.timeZone,
  });
  return RISK_LEVELS.indexOf(now) <= RISK_LEVELS.indexOf(risk);
}
