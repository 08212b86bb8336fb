import type { JsonObject } from '../../../agent/json.ts';
import { snapshotOf } from '../../../engine/asks/policy-snapshot.ts';
import { standInsFor } from '../../../engine/asks/stand-ins.ts';
import type { RequestOrigin } from '../../../engine/facets/facet.ts';
import type { StandIn } from '../../../engine/ports.ts';
import type { Policy } from '../../../policy/policy.ts';
import type { NewRequest, PolicySnapshot } from '../../../store/port/request-record.ts';
import { placeIn } from '../../slack/thread.ts';
import { channelView, personView, standInViews, THREAD_VIEW } from '../../views/view-ids.ts';
import type { ApprovalTerms } from './approval-terms.ts';
import { peopleToAsk } from './people-to-ask.ts';
import type { PlanContext } from './plan-context.ts';

/** The most direct messages per request; further approvers find it in the thread and in App Home. */
const MAX_DIRECT_MESSAGES = 20;

/** Finds the places of the cards of an approval, and the policy that it keeps. A step that its plan covers has no card. */
export async function placesFor(
  { store, directory }: Pick<PlanContext, 'store' | 'directory'>,
  { threadId, requesters }: RequestOrigin,
  { approval: { policy }, snapshot, barred, found, covered }: ApprovalTerms,
): Promise<Required<Pick<NewRequest, 'policy' | 'views'>>> {
  if (covered !== undefined) {
    // Only the people of its own policy confirm the outcome of a step.
    const { own } = covered;
    const resolvers = own === undefined ? snapshot.resolvers : snapshotOf(own).resolvers;
    return { policy: { ...snapshot, resolvers }, views: [] };
  }
  const [told, standIns] = await Promise.all([
    peopleToAsk({ store, directory }, policy, found, requesters),
    standInsFor(
      { store, directory },
      { ...snapshot, policy: snapshot, policyName: policy.name, requesters, barred },
    ),
  ]);
  return {
    policy: told.isFull ? escalatedAtOnce(snapshot) : snapshot,
    views: [
      { id: THREAD_VIEW, place: { ...placeIn(threadId) } },
      ...otherViews(policy, told.people, standIns),
    ],
  };
}

/** Lets the escalation begin with the request. */
function escalatedAtOnce(policy: PolicySnapshot): PolicySnapshot {
  const { escalate } = policy;
  return escalate === undefined ? policy : { ...policy, escalate: { ...escalate, afterMs: 0 } };
}

/** Lists the places of the card beside the thread: the policy's channels, and the approvers' direct messages. */
export function otherViews(
  policy: Policy,
  approvers: readonly string[],
  standIns: readonly StandIn[],
): { id: string; place: JsonObject }[] {
  const announced = policy.announce.map((channel) => ({ id: channelView(channel), place: { channel } }));
  if (!policy.directMessages) return announced;
  return [
    ...announced,
    ...approvers.slice(0, MAX_DIRECT_MESSAGES).map((user) => ({ id: personView(user), place: { user } })),
    ...standInViews(standIns.filter(({ who }) => !approvers.includes(who))),
  ];
}
