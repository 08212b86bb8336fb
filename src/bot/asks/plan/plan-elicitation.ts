import { toJson } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { digestNow } from '../../../engine/bind-request.ts';
import { peopleAsked } from '../../../engine/paused.ts';
import { type RequestOrigin, toDetails } from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { type NewRequest, requestIdOf } from '../../../store/port/store.ts';
import { approverOf } from '../../../tools/gate.ts';
import type { Elicitation } from '../../../tools/mcp/server-pause.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../../context.ts';
import { parseThreadId } from '../../slack/thread.ts';
import { personView, THREAD_VIEW } from '../../views/view-ids.ts';
import { answerSnapshot } from '../policy-snapshot.ts';
import { presentCall } from './present-call.ts';

const EXPIRES_MS = 7 * 86_400_000;
const MAX_DIRECT_MESSAGES = 20;
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** A call whose server needs input from a person. */
interface AskingCall {
  readonly call: CallPart;
  readonly interrupt: Interrupt;
  readonly entry: ToolEntry;
  readonly asked: Elicitation;
}

/**
 * Plans the request that puts a server's question to people: the requesters, the approvers of the tool's policy, or those whom the
 * manifest names. Its digest covers the call and what was approved, so that an answer continues nothing else.
 */
export async function planElicitation(
  { toolbox, directory }: Pick<BotContext, 'toolbox' | 'directory'>,
  { threadId, requesters, contextAuthors }: RequestOrigin,
  { call, interrupt, entry, asked }: AskingCall,
): Promise<NewRequest> {
  const [requester = NOBODY] = requesters;
  const { name, input } = interrupt.toolRequest;
  const origin = { threadId, requesters, contextAuthors };
  const { people, policy } = peopleAsked(toolbox, entry, toJson(input), origin);
  const presented = await presentCall(directory, entry, input);
  const { expiresMs = EXPIRES_MS } = entry.elicitation ?? {};
  const snapshot = answerSnapshot(people, { limitToRequester: true, expiresInMs: expiresMs });
  const others = await directory.peopleOf(people).catch(() => []);
  const bound = { entry, interrupt, presented, threadId, requesters, contextAuthors };
  const { question, server } = asked;
  return {
    id: requestIdOf(threadId, interrupt.id),
    kind: 'form',
    requester,
    requesters,
    details: toDetails(call, interrupt, {
      presented,
      description: entry.tool.description,
      purpose: question.message,
      ...(approverOf(interrupt) !== null && { answers: entry.answers }),
      ...(policy !== undefined && { policy: { name: policy, own: false } }),
      ...(contextAuthors.length > 0 && { contextAuthors: [...contextAuthors] }),
    }),
    audit: {
      tool: name,
      title: presented.title,
      server,
      question: question.message,
      ...(question.mode === 'url' && { url: question.url }),
      arguments: toJson(input),
    },
    policy: snapshot,
    digest: digestNow(toolbox, { ...bound, policy, barred: [] }),
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
