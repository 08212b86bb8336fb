import { votedChoices } from '../../../engine/choices.ts';
import type { Decision, MadeDecision } from '../../../engine/decision.ts';
import { detailsOf } from '../../../engine/request-details.ts';
import { inSpan } from '../../../observe/tracing.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { DECLINED } from '../../../tools/mcp/server-pause.ts';
import type { BotContext } from '../../context.ts';
import { questionOf } from '../../views/cards/card-details.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { castVote } from './cast-vote.ts';
import { type Click, checkClick, type Notice } from './click.ts';
import { answer, askAgain, edit, resolve, showAddress, withdraw } from './decide.ts';
import { undo } from './undo.ts';

/** Checks the origin of a click, authorizes its person and records the decision, in the trace of the request; returns the sentence for them. */
export async function applyDecision(
  context: BotContext,
  { requestId, click, decision }: MadeDecision,
): Promise<Notice> {
  const checked = await checkClick(context, requestId, click);
  if (!checked.ok) return checked.notice;
  const { request } = checked;
  const attributes = { 'countersign.request.id': request.id };
  return inSpan('decide', { parent: request.trace, kind: 'consumer', attributes }, () =>
    decide(context, request, click, decision),
  );
}

function decide(
  context: BotContext,
  request: RequestRecord,
  click: Click,
  decision: Decision,
): Promise<Notice> {
  switch (decision.type) {
    case 'approve': {
      const { type, ...vote } = decision;
      return castVote(context, request, click, { decision: type, ...vote });
    }
    case 'reject':
      return castVote(context, request, click, { decision: 'reject', reason: decision.reason });
    case 'choose':
      return choose(context, request, click, decision.picked);
    case 'answer':
      return answer(context, request, click, decision.value);
    case 'decline':
      return answer(context, request, click, DECLINED);
    case 'edit':
      return edit(context, request, click, decision.input);
    case 'resolve':
      return resolve(context, request, click, decision);
    case 'withdraw':
      return withdraw(context, request.id, click);
    case 'ask-again':
      return askAgain(context, request, click);
    case 'show-address':
      return showAddress(context, request, click);
    case 'undo':
      return undo(context, request, click);
  }
}

async function choose(
  context: BotContext,
  request: RequestRecord,
  click: Click,
  picked: readonly number[],
): Promise<Notice> {
  const [index = -1] = picked;
  if (request.kind === 'approval') {
    // Only what was offered can be chosen; a click that nothing offered is no approval.
    const isOffered = votedChoices(detailsOf(request).interrupt)[index] !== undefined;
    if (!isOffered) return noticeTexts.chooseFirst;
    return castVote(context, request, click, { decision: 'approve', steps: [index + 1] });
  }
  const { choices, several } = questionOf(request);
  const answers = picked.flatMap((index) => choices[index] ?? []);
  const [first] = answers;
  if (first === undefined) return noticeTexts.chooseFirst;
  return answer(context, request, click, several ? answers : first);
}
