import { toJson } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { digestNow } from '../../../engine/bind-request.ts';
import { type RequestOrigin, toDetails } from '../../../engine/request-details.ts';
import { actionOf, doneBy } from '../../../engine/run.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { DEFAULT_POLICY_NAME } from '../../../policy/policy.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf } from '../../../store/port/store.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../../context.ts';
import { parseThreadId, placeIn } from '../../slack/thread.ts';
import { personView, THREAD_VIEW } from '../../views/view-ids.ts';
import { answerSnapshot, snapshotOf } from '../policy-snapshot.ts';
import { peopleToConfirm } from './people-to-ask.ts';
import { presentCall } from './present-call.ts';

const KEPT_MS = 7 * 86_400_000;
const MAX_DIRECT_MESSAGES = 20;

/** A call that ran without approval and may or may not have taken effect. */
interface DoubtfulCall {
  readonly call: CallPart;
  readonly interrupt: Interrupt;
  /** The tool as it is now; `undefined` if it is gone, or its server is down. */
  readonly entry: ToolEntry | undefined;
}

/** The digest of a request whose tool is gone; no tool that comes back has it. */
const NO_TOOL = 'no-tool';
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/**
 * Plans the request that asks people about the outcome of a call that ran without approval: the resolvers of the tool's policy, of the
 * default policy if the tool is gone, or the requester if there is no policy. Nobody is asked who could not approve either. It is open
 * until a person answers.
 */
export async function planUnknown(
  { toolbox, directory }: Pick<BotContext, 'toolbox' | 'directory'>,
  { threadId, requesters, contextAuthors, why, files }: RequestOrigin,
  { call, interrupt, entry }: DoubtfulCall,
): Promise<NewRequest> {
  const [requester = NOBODY] = requesters;
  const channel = parseThreadId(threadId).channel;
  const judged = entry?.judge(toJson(interrupt.toolRequest.input), { requesters, contextAuthors, channel });
  const asked = judged?.outcome === 'ask' ? judged.policy : '';
  const policy = toolbox.policy(entry === undefined ? DEFAULT_POLICY_NAME : (entry.resolvedBy ?? asked));
  const named = policy && snapshotOf(policy);
  const isNamed = named !== undefined && named.resolvers.length > 0;
  const own = isNamed ? named : withoutPolicy(requesters);
  const found = await peopleToConfirm(directory, own.resolvers);
  const fallback = toolbox.policy(DEFAULT_POLICY_NAME);
  // A requester who is a guest or of another company could not confirm it; then the approvers by default can.
  const isStuck = !isNamed && found.isSure && found.people.length === 0 && fallback !== undefined;
  const snapshot = isStuck ? snapshotOf(fallback) : own;
  const { people } = isStuck ? await peopleToConfirm(directory, snapshot.resolvers) : found;
  const { name, input } = interrupt.toolRequest;
  const presented =
    entry === undefined
      ? { title: readableName(name), fields: [], hasTitle: false, isComplete: false }
      : await presentCall(directory, entry, input);
  const bound = {
    interrupt,
    policy: policy?.name,
    threadId,
    presented,
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
    done: doneBy({ entry, tool: name, input: toJson(input), requesters }),
    action: actionOf({ threadId, ref: interrupt.toolRequest.ref }),
    digest: entry === undefined ? NO_TOOL : digestNow(toolbox, { ...bound, entry }),
    details: toDetails(call, interrupt, {
      presented,
      description: entry?.tool.description ?? '',
      rule: 'No approval was needed',
      policy: { name: policy?.name, own: false },
      ...(contextAuthors.length > 0 && { contextAuthors: [...contextAuthors] }),
      ...(why !== '' && { why }),
      ...(files.length > 0 && { files: [...files] }),
    }),
    policy: snapshot,
    execution: entry?.execution ?? NO_EXECUTION,
    views: [
      { id: THREAD_VIEW, place: { ...placeIn(threadId) } },
      ...people.slice(0, MAX_DIRECT_MESSAGES).map((user) => ({ id: personView(user), place: { user } })),
    ],
  };
}

function withoutPolicy(requesters: readonly string[]): PolicySnapshot {
  const snapshot = answerSnapshot(requesters, { limitToRequester: true, expiresInMs: KEPT_MS });
  return { ...snapshot, resolvers: [...requesters] };
}
