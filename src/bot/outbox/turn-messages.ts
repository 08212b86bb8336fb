import { hasWebhook, parseCallerThread, webhookRow } from '../../engine/caller-threads.ts';
import type { Messages, Notice } from '../../engine/ports.ts';
import type { OutboxRow } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId, placeIn } from '../slack/thread.ts';
import { REDO } from '../views/cards/action-ids.ts';
import { freezeTexts } from '../views/texts/freezes.ts';
import { adminTexts, noticeTexts } from '../views/texts/notices.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { UNDO_ENDED } from './keep-undo.ts';
import { refusalRows } from './reply-rows.ts';
import { stopRows } from './stop-report.ts';
import { adminRows, quarantineNotice } from './tell-admins.ts';
import { TurnPreview } from './turn-preview.ts';

type Writer<Code extends Notice['code']> = (
  context: BotContext,
  threadId: string,
  notice: Extract<Notice, { code: Code }>,
) => OutboxRow[] | Promise<OutboxRow[]>;

/** Writes what turns tell, in the words of Slack. */
export function turnMessages(context: BotContext): Messages {
  return {
    rows: async (threadId, notice) => writeNotice(context, threadId, notice),
    preview: (turn, start) => new TurnPreview(context, turn, start),
  };
}

function writeNotice<Code extends Notice['code']>(
  context: BotContext,
  threadId: string,
  notice: Extract<Notice, { code: Code }>,
): ReturnType<Writer<Code>> {
  const write: Writer<Code> = WRITERS[notice.code];
  return write(context, threadId, notice);
}

/** The rows of each notice. Their ids tell a notice that is repeated from a new one. */
const WRITERS: { readonly [Code in Notice['code']]: Writer<Code> } = {
  'model-held': (_, threadId, { freeze }) => [
    {
      id: `${threadId}/held/${freeze.id}`,
      body: { kind: 'plain', ...placeIn(threadId), text: freezeTexts.modelHeld(freeze) },
    },
  ],
  // Once for each thread: a scope that is missing would be told with every mention.
  'thread-not-read': (_, threadId, { why }) => [
    {
      id: `${threadId}/thread-not-read`,
      body: { kind: 'notice', ...parseThreadId(threadId), text: noticeTexts.threadNotRead[why] },
    },
  ],
  'files-not-read': (_, threadId, { files }) => [
    {
      id: `${threadId}/files-not-read/${files.map(({ id }) => id).join('/')}`,
      body: { kind: 'plain', ...placeIn(threadId), text: noticeTexts.filesNotRead(files) },
    },
  ],
  revised: (_, threadId, { id, how }) => {
    const place = parseThreadId(threadId);
    const button = { actionId: REDO, text: noticeTexts.redo, value: `${threadId} ${id}` };
    const text = noticeTexts.revised[how];
    return [
      {
        id: `${threadId}/${id}/revised`,
        body: { kind: 'notice', ...place, text, ...(how === 'edited' && { button }) },
      },
    ];
  },
  file: (_, threadId, { id, name }) => [
    { id, body: { kind: 'file', ...parseThreadId(threadId), file: id, name } },
  ],
  refused: (_, threadId, { token, calls, requester }) => refusalRows({ threadId, token }, calls, requester),
  'undo-ended': (_, threadId, { requestId, by, isDone }) => [
    {
      id: `${threadId}/undo-ended/${requestId}`,
      body: { kind: UNDO_ENDED, requestId, by, isDone, at: Date.now() },
    },
  ],
  stopped: (context, threadId, { withdrawn, messages }) => stopRows(context, threadId, withdrawn, messages),
  'given-up': (context, threadId, { token, reason }) => {
    const { caller } = parseCallerThread(threadId) ?? {};
    const text = caller === undefined ? replyTexts.quarantined : replyTexts.callerQuarantined(caller);
    return [
      {
        id: `${threadId}/${token}/quarantined`,
        body: { kind: 'notice', ...placeIn(threadId), text },
      },
      ...(hasWebhook(context.toolbox, threadId) ? [webhookRow(threadId, `${token}/quarantined`)] : []),
      ...adminRows(context.agent().admins, quarantineNotice(threadId, reason)),
    ];
  },
  unreadable: ({ agent }, threadId, { reason }) =>
    adminRows(agent().admins, quarantineNotice(threadId, reason)),
  'budget-crossed': ({ agent }, _, { budget, subject, day, share, spent, limit }) =>
    adminRows(agent().admins, {
      id: `budget/${day}/${budget}/${subject}/${share}`,
      text: adminTexts.budget(adminTexts.budgetOwner[budget](subject), spent, limit),
      kind: 'notice',
    }),
  // With the provider's words; of each kind once a day.
  'model-failed': ({ agent }, _, { day, error, reference }) =>
    adminRows(agent().admins, {
      id: `model/${day}/${error.code}`,
      text: adminTexts.modelNeedsAttention(error.message, reference),
      kind: 'plain',
    }),
};
