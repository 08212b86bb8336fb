import { answerSnapshot, snapshotOf } from '../../../engine/asks/policy-snapshot.ts';
import { digestNow } from '../../../engine/bind-request.ts';
import type { AskedCall } from '../../../engine/facets/facet.ts';
import { type FacetName, prepareFacets } from '../../../engine/facets/facets.ts';
import { toDetails } from '../../../engine/request-details.ts';
import { actionOf, doneBy } from '../../../engine/run.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { DEFAULT_POLICY_NAME } from '../../../policy/policy.ts';
import { requestIdOf } from '../../../store/port/keys.ts';
import type { NewRequest, PolicySnapshot } from '../../../store/port/request-record.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { parseThreadId, placeIn } from '../../slack/thread.ts';
import { personView, THREAD_VIEW } from '../../views/view-ids.ts';
import { facetPorts } from './facet-ports.ts';
import { peopleToConfirm } from './people-to-ask.ts';
import type { PlanContext } from './plan-context.ts';
import { presentWhole } from './present-call.ts';

const KEPT_MS = 7 * 86_400_000;
const MAX_DIRECT_MESSAGES = 20;

/** The facets of the request of an outcome. */
const FACETS: readonly FacetName[] = ['description', 'why', 'context', 'files'];

/** The digest of a request whose tool is gone; no tool that comes back has it. */
const NO_TOOL = 'no-tool';
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/**
 * Plans the request that asks people about the outcome of a call that ran without approval: the resolvers of the tool's policy, of the
 * default policy if the tool is gone, or the requester if there is no policy. Nobody is asked who could not approve either. It is open
 * until a person answers.
 */
export async function planUnknown(context: PlanContext, asked: AskedCall): Promise<NewRequest> {
  const { toolbox, directory } = context;
  const { call, interrupt, entry, input, origin } = asked;
  const { threadId, requesters, contextAuthors } = origin;
  const [requester = NOBODY] = requesters;
  const channel = parseThreadId(threadId).channel;
  const judged = entry?.judge(input, { requesters, contextAuthors, channel });
  const judgedBy = judged?.outcome === 'ask' ? judged.policy : '';
  const policy = toolbox.policy(entry === undefined ? DEFAULT_POLICY_NAME : (entry.resolvedBy ?? judgedBy));
  const named = policy && snapshotOf(policy);
  const isNamed = named !== undefined && named.resolvers.length > 0;
  const own = isNamed ? named : withoutPolicy(requesters);
  const found = await peopleToConfirm(directory, own.resolvers);
  const fallback = toolbox.policy(DEFAULT_POLICY_NAME);
  // A requester who is a guest or of another company could not confirm it; then the approvers by default can.
  const isStuck = !isNamed && found.isSure && found.people.length === 0 && fallback !== undefined;
  const terms = isStuck ? snapshotOf(fallback) : own;
  const able = isStuck ? await peopleToConfirm(directory, terms.resolvers) : found;
  const { people } = able;
  const snapshot = able.isSure ? namingOnly(people, terms) : terms;
  const { name } = interrupt.toolRequest;
  const [presented, kept] = await Promise.all([
    presentWhole(directory, asked),
    prepareFacets(asked, facetPorts(context), FACETS),
  ]);
  const facets = { ...kept, reason: { rule: 'No approval was needed' } };
  const bound = {
    interrupt,
    policy: policy?.name,
    threadId,
    presented,
    facets,
    requesters,
    contextAuthors,
    barred: [],
  };
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind: 'approval',
    requester,
    requesters,
    labels: { tool: name, policy: policy?.name ?? '' },
    unsigned: true,
    done: doneBy({ entry, tool: name, input, requesters }),
    action: actionOf({ threadId, ref: interrupt.toolRequest.ref }),
    digest: entry === undefined ? NO_TOOL : digestNow(toolbox, { ...bound, entry }),
    details: toDetails(call, interrupt, {
      presented,
      facets,
      policy: { name: policy?.name, own: false },
    }),
    policy: snapshot,
    execution: entry?.execution ?? NO_EXECUTION,
    views: [
      { id: THREAD_VIEW, place: { ...placeIn(threadId) } },
      ...people.slice(0, MAX_DIRECT_MESSAGES).map((user) => ({ id: personView(user), place: { user } })),
    ],
  };
}

/** Leaves out those who could not confirm it, so that the card names nobody in vain; a group stays as it is. */
function namingOnly(people: readonly string[], snapshot: PolicySnapshot): PolicySnapshot {
  const resolvers = snapshot.resolvers.filter((id) => !isSlackPerson(id) || people.includes(id));
  return resolvers.length === 0 ? snapshot : { ...snapshot, resolvers };
}

function withoutPolicy(requesters: readonly string[]): PolicySnapshot {
  const snapshot = answerSnapshot(requesters, { limitToRequester: true, expiresInMs: KEPT_MS });
  return { ...snapshot, resolvers: [...requesters] };
}
