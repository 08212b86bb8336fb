import { toJson } from '../../agent/json.ts';
import type { ApprovalVerdict } from '../../tools/gate/approval-rules.ts';
import type { BotContext } from '../context.ts';
import { classifyInterrupt } from '../requests/classify-interrupt.ts';
import { parseThreadId } from '../slack/thread.ts';
import type { Action } from './run-action.ts';

/** Tells people why an approved request no longer holds: it is asked anew, or not tried again if it was started before. */
export function describeChange({ toolbox }: Pick<BotContext, 'toolbox'>, action: Action): string {
  const consequence = action.request.attempts > 0 ? "wasn't tried again" : 'needs a new approval';
  return `${whatChanged(toolbox, action)}, so this ${consequence}.`;
}

function whatChanged(toolbox: BotContext['toolbox'], action: Action): string {
  const { request, details } = action;
  const verdict = verdictNow(action);
  const asked = classifyInterrupt(details.interrupt);
  const named = details.policy?.name ?? '';
  const before = request.policy.quorum;
  const isGated = asked.kind === 'approval' && !asked.own && verdict.needed;
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
