import type { CallPart, Interrupt } from '../../agent/messages.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf } from '../../store/port/store.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId } from '../slack/thread.ts';
import { digestNow } from './bind-request.ts';
import type { RequestOrigin } from './plan-request.ts';
import { answerSnapshot, snapshotOf } from './policy-snapshot.ts';
import { presentCall } from './present-call.ts';
import { toDetails } from './request-details.ts';
import { NOBODY } from './task-people.ts';
import { personView, THREAD_VIEW } from './view-ids.ts';

const KEPT_MS = 7 * 86_400_000;
const MAX_DIRECT_MESSAGES = 20;

/** A call that ran without approval and may or may not have taken effect. */
interface DoubtfulCall {
  readonly call: CallPart;
  readonly interrupt: Interrupt;
  readonly entry: ToolEntry;
}

/**
 * Plans the request that asks people about the outcome of a call that ran without approval: the resolvers of the tool's policy, or the
 * requester if there is no policy. It is open until a person answers.
 */
export async function planUnknown(
  { toolbox, directory }: Pick<BotContext, 'toolbox' | 'directory'>,
  { threadId, requesters, contextAuthors, why, files }: RequestOrigin,
  { call, interrupt, entry }: DoubtfulCall,
): Promise<NewRequest> {
  const [requester = NOBODY] = requesters;
  const policy = toolbox.policy(entry.resolvedBy ?? '');
  const named = policy && snapshotOf(policy);
  const snapshot = named === undefined || named.resolvers.length === 0 ? withoutPolicy(requesters) : named;
  const people = await directory.peopleOf(snapshot.resolvers).catch(() => []);
  const presented = await presentCall(directory, entry, interrupt.toolRequest.input);
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind: 'approval',
    requester,
    requesters,
    unsigned: true,
    digest: digestNow(toolbox, {
      entry,
      interrupt,
      policy: policy?.name,
      threadId,
      presented,
      requesters,
      contextAuthors,
      barred: [],
    }),
    details: toDetails(call, interrupt, {
      presented,
      description: entry.tool.description,
      rule: 'No approval was needed',
      policy: { name: policy?.name, own: false },
      ...(contextAuthors.length > 0 && { contextAuthors: [...contextAuthors] }),
      ...(why !== '' && { why }),
      ...(files.length > 0 && { files: [...files] }),
    }),
    policy: snapshot,
    execution: entry.execution,
    views: [
      { id: THREAD_VIEW, place: { ...parseThreadId(threadId) } },
      ...people.slice(0, MAX_DIRECT_MESSAGES).map((user) => ({ id: personView(user), place: { user } })),
    ],
  };
}

function withoutPolicy(requesters: readonly string[]): PolicySnapshot {
  const snapshot = answerSnapshot(requesters, { limitToRequester: true, expiresInMs: KEPT_MS });
  return { ...snapshot, resolvers: [...requesters] };
}
