import { resolveGroups } from '../../../engine/asks/approver-groups.ts';
import { snapshotOf } from '../../../engine/asks/policy-snapshot.ts';
import type { AskedApproval, AskedCall, PlanPart } from '../../../engine/facets/facet.ts';
import { channelOf } from '../../../engine/ports.ts';
import { firstOfFacts } from '../../../policy/first-times.ts';
import { confirmFor, type Policy, riskOf } from '../../../policy/policy.ts';
import { reversibilityOf } from '../../../policy/reversible.ts';
import type { PolicySnapshot } from '../../../store/port/request-record.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { eligibleApprovers } from './people-to-ask.ts';
import type { PlanContext, Unaskable } from './plan-context.ts';

/** A plan is decided, and each of its steps started, within an hour, unless a policy says less. */
const PLAN_MS = 3_600_000;

/** The terms on which people approve a call. */
export interface ApprovalTerms {
  readonly approval: AskedApproval;
  readonly snapshot: PolicySnapshot;
  /** People who may not approve beside the requesters. */
  readonly barred: readonly string[];
  /** The people who can approve now, as far as anybody could tell. */
  readonly found: readonly string[];
  /** The policy of a step that the approval of its plan covers: nobody is asked about it by itself. */
  readonly covered: { readonly own: Policy | undefined } | undefined;
}

/** Finds the terms of an approval by the manifest that is active now. */
export async function termsFor(
  { toolbox, directory }: PlanContext,
  { entry, inner, answer, input, origin }: AskedCall & { readonly entry: NonNullable<AskedCall['entry']> },
  pause: AskedApproval['pause'],
  part: PlanPart | undefined,
): Promise<ApprovalTerms | Unaskable> {
  const { threadId, requesters, contextAuthors } = origin;
  const channel = channelOf(threadId);
  if (!entry.allows({ requesters, contextAuthors, channel }))
    return { unaskable: noticeTexts.notAllowedHere };
  const policy = toolbox.policy(part?.policy ?? pause.policy);
  if (policy === undefined) return { unaskable: noticeTexts.noPolicy(part?.policy ?? pause.policy) };
  const { timeZone } = policy;
  const reversible = reversibilityOf(entry, ...(inner ?? []).map((step) => toolbox.find(step.tool)));
  const firstOf = firstOfFacts(pause.first);
  const place = { requesters, contextAuthors, channel, timeZone };
  const judged = { tool: entry.tool.name, input, reversible, firstOf, ...place };
  const resolved = await resolveGroups({ directory, toolbox }, policy, { ...judged, threadId });
  if (!resolved.ok) return { unaskable: noticeTexts.approverUnknown(resolved.problem) };
  const { groups, excluded } = resolved;
  const barred = [
    ...new Set([
      ...(policy.separation === 'thread' ? contextAuthors : []),
      ...excluded.filter(isSlackPerson),
      // Who answers decides what runs, like a requester.
      ...(policy.selfApproval ? [] : (answer?.by ?? [])),
    ]),
  ];
  const risk = part?.plan?.risk ?? riskOf(policy.risk, judged);
  const confirm = confirmFor(policy.confirm, risk);
  const lasting = {
    ...snapshotOf({ ...policy, excluded }, [...groups]),
    ...(confirm === 'passkey' && { passkey: true as const }),
  };
  const snapshot = part === undefined ? lasting : withinAnHour(lasting);
  const isCovered = part !== undefined && part.plan === undefined;
  // People are checked again at the click and before the start, so a look-up may be a little old, or fail.
  const { approvers, places, isSure } = isCovered
    ? { approvers: [], places: 0, isSure: false }
    : await eligibleApprovers(directory.relaxed(), snapshot, { requesters, barred });
  if (isSure && places < policy.quorum)
    return { unaskable: noticeTexts.tooFewApprovers(policy.name, policy.quorum, places) };
  const known = isSure ? approvers : undefined;
  return {
    approval: { pause, policy, risk, confirm, reversible, approvers: known, part },
    snapshot,
    barred,
    found: approvers,
    covered: isCovered ? { own: toolbox.policy(pause.policy) } : undefined,
  };
}

function withinAnHour(snapshot: PolicySnapshot): PolicySnapshot {
  return {
    ...snapshot,
    expiresInMs: Math.min(snapshot.expiresInMs, PLAN_MS),
    startWithinMs: Math.min(snapshot.startWithinMs ?? PLAN_MS, PLAN_MS),
  };
}
