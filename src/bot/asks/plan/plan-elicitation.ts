import { answerSnapshot, termsOf } from '../../../engine/asks/policy-snapshot.ts';
import { partsNow } from '../../../engine/bind-request.ts';
import type { AskedCall } from '../../../engine/facets/facet.ts';
import { type FacetName, prepareFacets } from '../../../engine/facets/facets.ts';
import { peopleAsked } from '../../../engine/paused.ts';
import { toDetails } from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { requestIdOf } from '../../../store/port/keys.ts';
import type { NewRequest } from '../../../store/port/request-record.ts';
import type { Elicitation } from '../../../tools/mcp/server-pause.ts';
import { digestedFields, digestOfParts } from '../../../tools/toolbox/request-digest.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import { parseThreadId } from '../../slack/thread.ts';
import { personView, THREAD_VIEW } from '../../views/view-ids.ts';
import { facetPorts } from './facet-ports.ts';
import type { PlanContext } from './plan-context.ts';
import { presentCall } from './present-call.ts';

const EXPIRES_MS = 7 * 86_400_000;
const MAX_DIRECT_MESSAGES = 20;
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** The facets of the request of a server's question. */
const FACETS: readonly FacetName[] = ['description', 'answers', 'context'];

/**
 * Plans the request that puts a server's question to people: the requesters, the approvers of the tool's policy, or those whom the
 * manifest names. Its digest covers the call and what was approved, so that an answer continues nothing else.
 */
export async function planElicitation(
  context: PlanContext,
  asked: AskedCall & { readonly entry: ToolEntry },
  { question, server }: Elicitation,
): Promise<NewRequest> {
  const { toolbox, directory } = context;
  const { call, interrupt, entry, input, origin } = asked;
  const { threadId, requesters, contextAuthors } = origin;
  const [requester = NOBODY] = requesters;
  const { people, policy } = peopleAsked(toolbox, entry, input, origin);
  const [presented, facets] = await Promise.all([
    presentCall(directory, entry, input),
    prepareFacets(asked, facetPorts(context), FACETS),
  ]);
  const { expiresMs = EXPIRES_MS } = entry.elicitation ?? {};
  const snapshot = answerSnapshot(people, { limitToRequester: true, expiresInMs: expiresMs });
  const others = await directory.peopleOf(people).catch(() => []);
  const terms = termsOf(snapshot);
  const bound = { entry, interrupt, presented, facets, terms, threadId, requesters, contextAuthors };
  const parts = partsNow(toolbox, { ...bound, policy, barred: [] });
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind: 'form',
    requester,
    requesters,
    details: toDetails(call, interrupt, {
      presented,
      facets,
      terms,
      purpose: question.message,
      ...(policy !== undefined && { policy: { name: policy, own: false } }),
    }),
    audit: {
      ...digestedFields(parts),
      server,
      question: question.message,
      ...(question.mode === 'url' && { url: question.url }),
    },
    policy: snapshot,
    digest: digestOfParts(parts),
    execution: NO_EXECUTION,
    views: [
      { id: THREAD_VIEW, place: { ...parseThreadId(threadId) } },
      ...others
        .filter((user) => !requesters.includes(user))
        .slice(0, MAX_DIRECT_MESSAGES)
        .map((user) => ({ id: personView(user), place: { user } })),
    ],
  };
}
