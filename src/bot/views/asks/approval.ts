import { detailsOf } from '../../../engine/request-details.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { questionIn } from '../../../tools/pause.ts';
import {
  APPROVE,
  APPROVE_COMMENTED,
  APPROVE_GRANT,
  APPROVE_TYPED,
  EDIT,
  REJECT,
} from '../cards/action-ids.ts';
import { buildApprovalCard } from '../cards/approval-card.ts';
import type { CardDetails } from '../cards/card-details.ts';
import { numbered } from '../cards/question-card.ts';
import { renderValue } from '../cards/render-value.ts';
import type { Piece } from '../facets/facet-lines.ts';
import {
  buildApproveModal,
  buildCommentModal,
  buildGrantModal,
  buildRejectModal,
  parseComment,
  parseReason,
  parseTarget,
} from '../modals/decision-modals.ts';
import { parseSubmission } from '../modals/fields/read-field.ts';
import { buildEditModal } from '../modals/form-modal.ts';
import { APPROVE_MODAL, COMMENT_MODAL, EDIT_MODAL, GRANT_MODAL, REJECT_MODAL } from '../modals/modal.ts';
import { modalTexts } from '../texts/modals.ts';
import { noticeTexts } from '../texts/notices.ts';
import { showText } from '../texts/show-text.ts';
import { type AskKind, type Opened, type Opening, toDecision } from './ask-kind.ts';

/** A call that approvers vote on: a yes or no, or one of the choices of its tool. */
export const approval: AskKind = {
  name: 'approval',
  recordedAs: 'approval',
  isOf: () => true,
  card: buildApprovalCard,
  exact: exactCall,
  buttons: [
    { id: APPROVE, decide: () => ({ type: 'approve' }) },
    { id: APPROVE_TYPED, open: buildApproveModal },
    { id: APPROVE_GRANT, open: buildGrantModal },
    { id: APPROVE_COMMENTED, open: buildCommentModal },
    { id: REJECT, open: buildRejectModal },
    { id: EDIT, open: openEdit },
  ],
  modals: [
    {
      id: APPROVE_MODAL,
      read: (request, values) =>
        toDecision(parseTarget(request, values), () => ({ type: 'approve', ...parseComment(values) })),
    },
    {
      id: COMMENT_MODAL,
      read: (_request, values) => ({ ok: true, value: { type: 'approve', ...parseComment(values) } }),
    },
    {
      id: GRANT_MODAL,
      read: (_request, values) => ({
        ok: true,
        value: { type: 'approve', grants: true, ...parseComment(values) },
      }),
    },
    {
      id: REJECT_MODAL,
      read: (_request, values) => toDecision(parseReason(values), (reason) => ({ type: 'reject', reason })),
    },
    {
      id: EDIT_MODAL,
      read: (request, values, _metadata, toolbox) => {
        const entry = toolbox.find(detailsOf(request).interrupt.toolRequest.name);
        if (entry === undefined) return { ok: true, value: noticeTexts.toolGone };
        const parsed = parseSubmission(entry.tool.inputSchema, values);
        return toDecision(parsed, (input) => ({ type: 'edit', input }));
      },
    },
  ],
};

/** Opens the form that edits the arguments of a call, or of a step of a plan. */
export function openEdit(request: RequestRecord, { toolbox }: Opening): Opened {
  const entry = toolbox.find(detailsOf(request).interrupt.toolRequest.name);
  if (entry === undefined) return noticeTexts.toolGone;
  const built = buildEditModal(request, entry.tool.inputSchema, entry.presentation.formatOf);
  return built.ok ? built.view : built.reason;
}

/** Lists the question of the tool that approvers decide about, its choices, and the exact arguments. */
export function exactCall(request: RequestRecord, { ask, input }: CardDetails): readonly Piece[] {
  const question = ask === undefined ? undefined : questionIn(ask);
  return [
    { label: modalTexts.question, text: showText(question?.message ?? '') },
    { label: modalTexts.choices, text: ask?.way.kind === 'choice' ? numbered(question?.choices ?? []) : '' },
    { label: modalTexts.arguments(request.state === 'pending'), text: renderValue(input).text },
  ].filter(({ text }) => text !== '');
}
