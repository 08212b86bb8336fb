import { answerSnapshot, snapshotOf, termsOf } from '../../../engine/asks/policy-snapshot.ts';
import { partsNow } from '../../../engine/bind-request.ts';
import type { AskedCall, RequestOrigin } from '../../../engine/facets/facet.ts';
import { type FacetName, prepareFacets } from '../../../engine/facets/facets.ts';
import { toDetails } from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { requestIdOf } from '../../../store/port/keys.ts';
import type { NewRequest, PolicySnapshot } from '../../../store/port/request-record.ts';
import { consentOf } from '../../../tools/mcp/auth/ask-for-consent.ts';
import { askOf } from '../../../tools/pause.ts';
import { digestedFields, digestOfParts } from '../../../tools/toolbox/request-digest.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../../context.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { placeIn } from '../../slack/thread.ts';
import { askKindFor } from '../../views/asks/ask-kinds.ts';
import { connectionTexts } from '../../views/texts/connections.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { THREAD_VIEW } from '../../views/view-ids.ts';
import { facetPorts } from './facet-ports.ts';
import { eligibleApprovers } from './people-to-ask.ts';
import { otherViews } from './places.ts';
import type { PlanContext, Unaskable } from './plan-context.ts';
import { presentCall } from './present-call.ts';

const EXPIRES_MS = 86_400_000;
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** The facets of the request of an answer. */
const FACETS: readonly FacetName[] = ['description', 'context', 'files'];

/** Plans the request of a question, a form, a callback or a person's consent. */
export async function planAnswer(
  context: PlanContext,
  asked: AskedCall & { readonly entry: ToolEntry },
): Promise<NewRequest | Unaskable> {
  const { toolbox, directory } = context;
  const { call, interrupt, entry, origin } = asked;
  const { threadId, requesters, contextAuthors } = origin;
  const tool = interrupt.toolRequest.name;
  const kind = askKindFor(interrupt);
  const [presented, facets] = await Promise.all([
    presentCall(directory, entry, asked.input),
    prepareFacets(asked, facetPorts(context), FACETS),
  ]);
  const consent = consentOf(interrupt);
  const ask = askOf(interrupt);
  const message =
    consent === undefined ? ask?.message : connectionTexts.cardPurpose(consent.server, consent.host);
  const purpose = message === '' ? undefined : message;
  const policyName = typeof ask?.by === 'object' ? ask.by.policy : undefined;
  const people = { requesters, contextAuthors };
  const answerers: Answerers | Unaskable =
    policyName === undefined
      ? {
          policy: freeTerms(kind.expiresInMs, consent?.person, ask?.by === 'anyone', requesters),
          barred: [],
          views: [],
        }
      : await policyTerms({ toolbox, directory }, policyName, people);
  if ('unaskable' in answerers) return answerers;
  const { policy, barred, views } = answerers;
  const terms = termsOf(policy);
  const bound = { entry, interrupt, presented, facets, terms, threadId, requesters, contextAuthors };
  const parts = partsNow(toolbox, { ...bound, policy: policyName, barred });
  const [requester = NOBODY] = requesters;
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind: kind.recordedAs,
    requester,
    requesters,
    barred,
    labels: { tool, policy: policyName ?? '' },
    details: toDetails(call, interrupt, {
      presented,
      facets,
      terms,
      ...(purpose !== undefined && { purpose }),
      ...(policyName !== undefined && { policy: { name: policyName, own: true } }),
    }),
    audit: {
      ...digestedFields(parts),
      ...(purpose !== undefined && { question: purpose }),
    },
    policy,
    digest: digestOfParts(parts),
    execution: NO_EXECUTION,
    views: [{ id: THREAD_VIEW, place: { ...placeIn(threadId) } }, ...views],
  };
}

/** Lets the requesters answer, or anyone; only the person themselves can connect their account. */
function freeTerms(
  expiresInMs: number = EXPIRES_MS,
  person: string | undefined,
  isForAnyone: boolean,
  requesters: readonly string[],
): PolicySnapshot {
  return answerSnapshot(person === undefined ? requesters : [person], {
    limitToRequester: !isForAnyone,
    expiresInMs,
  });
}

/** The terms of an answer, who is barred from it, and the places where it is asked. */
interface Answerers {
  readonly policy: PolicySnapshot;
  readonly barred: readonly string[];
  readonly views: ReturnType<typeof otherViews>;
}

/** Lets the approvers of a policy answer, on its terms. An answer is one person's, so a policy that needs more cannot take one. */
async function policyTerms(
  { toolbox, directory }: Pick<BotContext, 'toolbox' | 'directory'>,
  name: string,
  { requesters, contextAuthors }: Pick<RequestOrigin, 'requesters' | 'contextAuthors'>,
): Promise<Answerers | Unaskable> {
  const policy = toolbox.policy(name);
  if (policy === undefined) return { unaskable: noticeTexts.noPolicy(name) };
  if (policy.quorum > 1 || policy.confirm === 'passkey') return { unaskable: noticeTexts.oneAnswer(name) };
  // An answer has no arguments that could name anybody.
  if (policy.excludedFrom !== undefined)
    return { unaskable: noticeTexts.approverUnknown({ code: 'author-not-said' }) };
  const snapshot = snapshotOf(policy);
  const barred = [
    ...new Set([
      ...(policy.selfApproval ? [] : requesters),
      ...(policy.separation === 'thread' ? contextAuthors : []),
      ...policy.excluded.filter(isSlackPerson),
    ]),
  ];
  const { approvers, places, isSure } = await eligibleApprovers(directory.relaxed(), snapshot, {
    requesters,
    barred,
  });
  if (isSure && places < policy.quorum)
    return { unaskable: noticeTexts.tooFewApprovers(name, policy.quorum, places) };
  return { policy: snapshot, barred, views: otherViews(policy, approvers, []) };
}
