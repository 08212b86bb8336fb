import { toJson } from '../agent/json.ts';
import type { Message } from '../agent/messages.ts';
import { Transcript } from '../agent/transcript.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf } from '../store/port.ts';
import { requestDigest } from '../tools/request-digest.ts';
import { needsApproval } from '../tools/require-approval.ts';
import type { BotParts } from './bot-parts.ts';
import { toDetails } from './request-details.ts';
import { parseThreadId } from './thread.ts';

/** Makes a request of every call that waits: an approval by the policy's people, or a question to whoever asked. */
export function openRequests(
  { tools, policy }: Pick<BotParts, 'tools' | 'policy'>,
  threadId: string,
  messages: readonly Message[],
): NewRequest[] {
  const transcript = new Transcript(messages);
  const requester = requesterOf(messages);
  return [...transcript.round.values()].flatMap((call) => {
    if (call.state !== 'waiting') return [];
    const { interrupt, part } = call;
    const tool = tools.find(({ name }) => name === interrupt.toolRequest.name);
    if (tool === undefined) return [];
    const isApproval = needsApproval(interrupt);
    const own = isApproval ? policy : asksOnly(policy, requester);
    const { input } = interrupt.toolRequest;
    return [
      {
        id: requestIdOf(threadId, interrupt.id),
        kind: isApproval ? 'approval' : 'question',
        requester,
        digest: requestDigest({ tool, policy: toJson(own) as never, input, requester, threadId }),
        details: toDetails(part, interrupt),
        policy: own,
        execution: { idempotent: false, maxAttempts: 1, retryForMs: 0 },
        views: [{ id: 'thread', place: { ...parseThreadId(threadId) } }],
      },
    ];
  });
}

/** The person who last spoke is the one the agent works for. */
function requesterOf(messages: readonly Message[]): string {
  const last = messages.findLast((message) => message.role === 'user');
  const user = last?.role === 'user' ? last.metadata?.user : undefined;
  return typeof user === 'string' ? user : 'unknown';
}

function asksOnly(policy: PolicySnapshot, requester: string): PolicySnapshot {
  return { ...policy, principals: [requester], quorum: 1, vetoes: 1, selfApproval: true };
}
