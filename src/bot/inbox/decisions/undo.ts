import { toJson } from '../../../agent/json.ts';
import type { UndoCall } from '../../../agent/tool.ts';
import { askerProblem } from '../../../engine/asks/may-ask.ts';
import { undoMark } from '../../../engine/asks/undo-call.ts';
import { type Details, detailsOf } from '../../../engine/request-details.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { wasApprovedBefore } from '../../../tools/gate.ts';
import type { BotContext } from '../../context.ts';
import { parseThreadId } from '../../slack/thread.ts';
import { payloadOf, stateWordOf } from '../../views/cards/card-details.ts';
import { isDone } from '../../views/cards/outcome.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { replyTexts } from '../../views/texts/replies.ts';
import { authorize } from './authorize.ts';
import type { Click, Notice } from './click.ts';
import { ineligibleText } from './refusal-text.ts';

type Context = Pick<BotContext, 'store' | 'directory' | 'toolbox' | 'agent' | 'logger'>;

/**
 * Asks for the reverse of an action that succeeded, once: the reverse call is computed by code, and its own rules decide whether people
 * have to approve it. Requesters and approvers of the action may ask; who does is the requester of the reverse call.
 */
export async function undo(context: Context, request: RequestRecord, click: Click): Promise<Notice> {
  const { store, directory, agent } = context;
  const { id, threadId, settledAt = 0 } = request;
  const { who } = click;
  if (!isDone(request)) return noticeTexts.nothingToUndo(stateWordOf(request));
  const details = detailsOf(request);
  if (isAsked(request)) return noticeTexts.alreadyUndone;
  const undoMs = wasApprovedBefore(details.interrupt) ? undefined : details.facets.undo?.withinMs;
  if (undoMs === undefined || Date.now() > settledAt + undoMs) return noticeTexts.undoTooLate;
  const { problem } = await authorize(context, click, request.principals, request.policy.excluded);
  if (problem !== undefined && !request.requesters.includes(who))
    return ineligibleText(problem, noticeTexts.mayNotUndo);
  const { channel } = parseThreadId(threadId);
  const cannotAsk = await askerProblem(directory, agent().askers, { user: who, channel });
  if (cannotAsk !== undefined) return replyTexts.mayNotAsk[cannotAsk];
  const call = planUndo(context, request, details);
  if (call === undefined) return noticeTexts.cannotUndo;
  const title = details.presented.done ?? details.presented.title;
  const { tool, input } = call;
  const body = {
    user: who,
    // The words of the action may be anybody's, so the message of a requester has none of them.
    text: '(clicked Undo on an action that ran in this thread)',
    role: 'requester',
    ...undoMark({ requestId: id, title, tool, input }),
  };
  // The request's own id makes a second click the same item.
  const enqueued = await store.enqueue(threadId, { id: `undo ${id}`, body });
  if (enqueued.outcome === 'duplicate') return noticeTexts.alreadyUndone;
  if (enqueued.outcome !== 'enqueued') return noticeTexts.cannotUndo;
  const evidence = { by: who, click: click.id, tool, arguments: toJson(input) };
  await store.note(`${threadId}/undo-${id}`, 'undo-asked', id, evidence);
  await store.noteUndo(id, 'asked', { by: who });
  return enqueued.busy || enqueued.waiting > 0 ? noticeTexts.undoQueued : undefined;
}

function isAsked({ undo }: RequestRecord): boolean {
  return undo !== undefined && undo.step !== 'offered' && undo.step !== 'over';
}

/** Computes the reverse call by the tool as it is now. */
function planUndo(
  { toolbox, logger }: Context,
  request: RequestRecord,
  { interrupt, facets }: Details,
): UndoCall | undefined {
  const { name, input } = interrupt.toolRequest;
  try {
    const { undo: reverse } = toolbox.find(name) ?? {};
    const call = reverse?.plan(toJson(input), payloadOf(request) ?? null, facets.preview?.current);
    return call !== undefined && toolbox.find(call.tool)?.tool.kind === 'tool' ? call : undefined;
  } catch (err) {
    logger.warn({ requestId: request.id, err }, 'undo failed');
    return undefined;
  }
}
