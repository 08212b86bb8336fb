import { toJson } from '../../agent/json.ts';
import type { ApprovalVerdict } from '../../tools/gate/approval-rules.ts';
import type { BotContext } from '../context.ts';
import { classifyInterrupt } from '../requests/classify-interrupt.ts';
import { parseThreadId } from '../slack/thread.ts';
import type { Action } from './run-action.ts';

/** Tells people why an approved request no longer holds: it is denied now, or asked anew. */
export function describeChange({ toolbox }: Pick<BotContext, 'toolbox'>, action: Action): string {
  const verdict = verdictNow(action);
  if (verdict.outcome === 'deny') return `A rule does not allow this any more: ${verdict.reason}`;
  return `${whatChanged(toolbox, action, verdict)}, so this needs a new approval.`;
}

function whatChanged(toolbox: BotContext['toolbox'], action: Action, verdict: ApprovalVerdict): string {
  const { request, details } = action;
  const asked = classifyInterrupt(details.interrupt);
  const named = details.policy?.name ?? '';
  const before = request.policy.quorum;
  const isGated = asked.kind === 'approval' && !asked.own && verdict.outcome === 'ask';
  const after = toolbox.policy(isGated ? verdict.policy : named)?.quorum ?? before;
  if (after !== before) return `The rule changed from ${before} to ${after} approvals`;
  if (isGated && (verdict.policy !== asked.policy || verdict.rule !== asked.rule))
    return 'The rule for this action changed';
  return 'The tool, its settings or its policy changed';
}

function verdictNow({ request, details, entry }: Action): ApprovalVerdict {
  return entry.judge(toJson(details.interrupt.toolRequest.input), placeOf({ request, details }));
}

/** Returns the people and the channel of a request on record. */
export function placeOf({ request, details }: Pick<Action, 'request' | 'details'>) {
  return {
    requesters: request.requesters,
    contextAuthors: details.contextAuthors ?? [],
    channel: parseThreadId(request.threadId).channel,
  };
}
