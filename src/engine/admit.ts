import { firstOfFacts } from '../policy/first-times.ts';
import { freezeInWords, type HoldingFreeze } from '../policy/freezes.ts';
import { type Limit, mayExceed, usesOf } from '../policy/limits.ts';
import type { LimitUse } from '../store/port/workspace.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import type { FacetCheck } from './facets/facet.ts';
import type { FacetName } from './facets/facets.ts';
import { passkey } from './facets/passkey.ts';
import { preview } from './facets/preview.ts';
import { holdingFreeze } from './freezes.ts';
import { isBound } from './plans.ts';
import type { CheckedApprovers, EngineContext } from './ports.ts';
import type { Change, Refusal } from './reasons.ts';
import {
  type AnsweredRun,
  type ApprovedRun,
  type Basis,
  digestOf,
  placeOf,
  type Run,
  type TurnRun,
} from './run.ts';

/** The facts that the checks have found, for the script that starts the Run and checks the rest. */
export interface StartPlan {
  /** The digest of what would run now. */
  digest?: string;
  /** The approvals that still count. */
  approvers?: CheckedApprovers;
  /** The freeze of the manifest that holds it, so that it waits for its end. */
  freeze?: HoldingFreeze;
  /** The amounts that the Run counts, in the order of `limits`. */
  uses: readonly LimitUse[];
  limits: readonly Limit[];
}

type Context = Pick<EngineContext, 'store' | 'toolbox' | 'people'>;
type RunOn<Kind extends Basis> = Extract<Run, { readonly basis: Kind }>;

/** One check before a start. A check without a function is made by the script that starts the Run, in the same step. */
export interface Check {
  readonly code: Refusal['code'] | 'stopped';
  /** The Runs that it is for. */
  readonly for: readonly Basis[];
  /** Whether only the first start is checked. */
  readonly isOnlyFirst?: true;
  /** Tells whether it takes so long for a Run that a click leaves it to a worker. */
  readonly isSlow?: (run: Run) => boolean;
  readonly refuse?: (run: Run, context: Context, plan: StartPlan) => Promise<Refusal | undefined>;
}

const ASKED: readonly ['approval', 'answer'] = ['approval', 'answer'];
const STARTED: readonly ['approval', 'rules'] = ['approval', 'rules'];
const ALL: readonly ['approval', 'answer', 'rules'] = ['approval', 'answer', 'rules'];

/**
 * Lists every check before a start, in order, for a click, a woken worker and a call in a turn alike. A call in a turn has its tool from
 * the loop and was judged by its gate a moment ago; an answered call starts anew in its turn, so its limits are counted there.
 */
export const CHECKS: readonly Check[] = [
  check('no-tool', ASKED, async ({ entry, tool }) =>
    entry === undefined ? { code: 'no-tool', tool } : undefined,
  ),
  check('requester-inactive', ALL, async (run, { people }) => {
    const { requesters, channel } = placeOf(run);
    return (await people.mayAllAsk(requesters, channel)) ? undefined : { code: 'requester-inactive' };
  }),
  check('not-allowed', ALL, async (run) =>
    run.entry?.allows(placeOf(run)) === false ? { code: 'not-allowed' } : undefined,
  ),
  // The script that starts it looks at the freezes of people, and holds what is approved.
  check(
    'frozen',
    STARTED,
    async (run, { toolbox }, plan) => {
      const freeze = await holdingFreeze(toolbox, run.entry);
      if (freeze === undefined) return undefined;
      if (run.basis === 'rules') return { code: 'frozen', reason: freezeInWords(freeze) };
      plan.freeze = freeze;
      return undefined;
    },
    { isSlow: ({ entry }) => entry?.freezes.some(({ holds }) => holds.kind === 'while') === true },
  ),
  check('changed', ASKED, async (run, context, plan) => {
    const digest = digestOf(context, run);
    if (digest === undefined || digest !== run.request.digest)
      return { code: 'changed', change: changeOf(context, run) };
    plan.digest = digest;
    // A step has to be the one that its plan has.
    const isApproved = run.basis === 'answer' || isBound(run.approvedAs, run.request);
    return isApproved ? undefined : { code: 'changed', change: changeOf(context, run) };
  }),
  // A grant that was revoked carries no call on; one that has expired does, since it held when the call was made.
  check('grant-revoked', ['answer'], async ({ grant: id }, { store }) => {
    const grants = id === undefined ? [] : await store.listGrants();
    return grants.find((grant) => grant.id === id)?.revokedBy === undefined
      ? undefined
      : { code: 'grant-revoked' };
  }),
  facetCheck(preview),
  check('over-limit', STARTED, async (run, { toolbox }, plan) => {
    const planned = planLimits(toolbox, run);
    if ('untold' in planned) return { code: 'over-limit', limit: planned.untold };
    Object.assign(plan, planned);
    return undefined;
  }),
  facetCheck(passkey),
  check('quorum-lost', ['approval'], async (run, { people }, plan) => {
    plan.approvers = await people.checkApprovers(run.request, run.approvers);
    // The script that starts it counts them.
    return undefined;
  }),
  { code: 'stopped', for: ['rules'] },
  { code: 'ungranted', for: ['rules'] },
  { code: 'stale-approval', for: ['approval'] },
  // A step is the next one of a plan that holds, and rests on the approval of the plan.
  { code: 'held', for: ['approval'] },
];

function check<Kind extends Basis>(
  code: Refusal['code'],
  kinds: readonly Kind[],
  refuse: (run: RunOn<Kind>, context: Context, plan: StartPlan) => Promise<Refusal | undefined>,
  options: Pick<Check, 'isOnlyFirst' | 'isSlow'> = {},
): Check {
  const isMeant = (run: Run): run is RunOn<Kind> => kinds.some((kind) => kind === run.basis);
  return {
    code,
    for: kinds,
    ...options,
    refuse: async (run, context, plan) => (isMeant(run) ? refuse(run, context, plan) : undefined),
  };
}

/** Makes the check of a facet an entry of the list. */
function facetCheck({
  name,
  check: own,
}: {
  readonly name: FacetName;
  readonly check: FacetCheck<unknown>;
}): Check {
  return check(own.code, ['approval'], (run, context) => own.refuse(run.details.facets[name], run, context), {
    ...(own.isOnlyFirst === true && { isOnlyFirst: true }),
    isSlow: (run) => run.basis === 'approval' && own.isSlow?.(run.details.facets[name]) === true,
  });
}

/** The result of the checks: the Run may be started by this plan, may not for this reason, or a worker has to look. */
export type Admission =
  | { readonly outcome: 'admitted'; readonly plan: StartPlan }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'slow' };

/**
 * Walks the list of checks for a Run; the first that refuses ends it. `isQuick` is for a click, which has to be acknowledged: it skips no
 * check, but leaves a Run with a slow one to a worker. Throws if a check cannot be made now.
 */
export async function admit(
  context: Context,
  run: Run,
  { isQuick = false }: { readonly isQuick?: boolean } = {},
): Promise<Admission> {
  const plan: StartPlan = { uses: [], limits: [] };
  const checks = CHECKS.filter(
    ({ for: kinds, isOnlyFirst }) => kinds.includes(run.basis) && !(isOnlyFirst === true && run.attempts > 0),
  );
  for (const { refuse, isSlow } of checks) {
    if (isQuick && isSlow?.(run) === true) return { outcome: 'slow' };
    const refusal = await refuse?.(run, context, plan);
    if (refusal !== undefined) return { outcome: 'refused', refusal };
  }
  return { outcome: 'admitted', plan };
}

/** Finds what has changed since people were asked: the call is denied now, needs other approvals, or is another. */
function changeOf({ toolbox }: Pick<Context, 'toolbox'>, run: ApprovedRun | AnsweredRun): Change {
  const { request, details, entry, input } = run;
  const asked = classifyInterrupt(details.interrupt);
  const firstOf = asked.kind === 'approval' ? firstOfFacts(asked.first) : undefined;
  const verdict = entry?.judge(input, { ...placeOf(run), firstOf });
  if (verdict?.outcome === 'deny') return { what: 'denied', reason: verdict.reason };
  const before = request.policy.quorum;
  const gated = asked.kind === 'approval' && !asked.own && verdict?.outcome === 'ask' ? verdict : undefined;
  const after = toolbox.policy(gated?.policy ?? details.policy?.name ?? '')?.quorum ?? before;
  if (after !== before) return { what: 'quorum', before, after };
  const isSameRule = asked.kind === 'approval' && gated?.policy === asked.policy && gated.rule === asked.rule;
  return gated !== undefined && !isSameRule ? { what: 'rule' } : { what: 'tool' };
}

/** The limits of a Run that the script that starts it counts, or one that it cannot but exceed, because its amount is unknown. */
type PlannedLimits = { readonly untold: Limit } | Pick<StartPlan, 'uses' | 'limits'>;

/** Returns the policy under which people approved a Run; one that is only tried again on a person's word was approved by nobody. */
function policyOf({ details }: ApprovedRun): string | undefined {
  return classifyInterrupt(details.interrupt).kind === 'approval' ? details.policy?.name : undefined;
}

/** Plans what a Run counts against its limits when it starts. */
function planLimits(toolbox: Pick<Toolbox, 'policy'>, run: ApprovedRun | TurnRun): PlannedLimits {
  const { entry, tool, input } = run;
  const approvedUnder = run.basis === 'approval' ? policyOf(run) : undefined;
  // Those who approve what is over a limit have approved this call, so it only counts.
  const isAllowedOver = (limit: Limit) => mayExceed(limit, approvedUnder, (name) => toolbox.policy(name));
  const { limits = [], reversible } = entry ?? {};
  const approved = approvedUnder !== undefined;
  const uses = usesOf(limits, { tool, input, approved, reversible, ...placeOf(run), contextAuthors: [] });
  const untold = uses.find(({ amount, limit }) => amount === undefined && !isAllowedOver(limit));
  if (untold !== undefined) return { untold: untold.limit };
  return {
    limits: uses.map(({ limit }) => limit),
    uses: uses.map(({ key, amount = 0, limit }) => ({
      key,
      amount,
      windowMs: limit.windowMs,
      max: isAllowedOver(limit) ? undefined : limit.max,
    })),
  };
}
