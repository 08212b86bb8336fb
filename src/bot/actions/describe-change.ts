import { toJson } from '../../agent/json.ts';
import type { ApprovalVerdict } from '../../tools/gate/approval-rules.ts';
import type { BotContext } from '../context.ts';
import { classifyInterrupt } from '../requests/classify-interrupt.ts';
import { parseThreadId } from '../slack/thread.ts';
import { noticeTexts } from '../texts/notices.ts';
import type { Action } from './run-action.ts';

/** Tells people why an approved request no longer holds: it is denied now, asked anew, or not tried again if it was started before. */
export function describeChange({ toolbox }: Pick<BotContext, 'toolbox'>, action: Action): string {
  const verdict = verdictNow(action);
  if (verdict.outcome === 'deny') return noticeTexts.deniedNow(verdict.reason);
  const change = whatChanged(toolbox, action, verdict);
  return action.request.attempts > 0
    ? noticeTexts.stoppedByChange(change)
    : noticeTexts.needsNewApproval(change);
}

function whatChanged(toolbox: BotContext['toolbox'], action: Action, verdict: ApprovalVerdict): string {
  const { request, details } = action;
  const asked = classifyInterrupt(details.interrupt);
  const named = details.policy?.name ?? '';
  const before = request.policy.quorum;
  const isGated = asked.kind === 'approval' && !asked.own && verdict.outcome === 'ask';
  const after = toolbox.policy(isGated ? verdict.policy : named)?.quorum ?? before;
  if (after !== before) return noticeTexts.quorumChanged(before, after);
  if (isGated && (verdict.policy !== asked.policy || verdict.rule !== asked.rule))
    return noticeTexts.ruleChanged;
  return noticeTexts.toolChanged;
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
