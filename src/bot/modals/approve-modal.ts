import type { RequestRecord } from '../../store/port/store.ts';
import { buildCallBody } from '../cards/call-body.ts';
import { plain } from '../cards/card.ts';
import { cardDetailsOf } from '../cards/card-details.ts';
import { showLabel } from '../cards/show-text.ts';
import { limits } from '../slack/limits.ts';
import { modalTexts } from '../texts/modals.ts';
import { APPROVE_MODAL, type Modal, modal, type Submission, untrustedText } from './modal.ts';
import { textIn } from './modal-state.ts';

export const TARGET = 'target';

/** Builds the modal of a high-risk approval, which names the call and asks to type its target; a sentence if it has none. */
export function buildApproveModal(request: RequestRecord): Modal | string {
  const details = cardDetailsOf(request);
  const target = details?.presented.target;
  if (details === undefined || target === undefined) return modalTexts.unreadable;
  return modal(request.id, {
    callbackId: APPROVE_MODAL,
    title: modalTexts.approveTitle,
    submit: modalTexts.approve,
    blocks: [
      untrustedText(modalTexts.approveIntro(details.presented.title)),
      ...buildCallBody(details).blocks,
      {
        type: 'input',
        block_id: TARGET,
        label: plain(modalTexts.typeTarget(showLabel(target, limits.label))),
        element: { type: 'plain_text_input', action_id: TARGET },
      },
    ],
  });
}

/** Checks the typed target against the record. Case and blanks around it make no difference. */
export function parseTarget(request: RequestRecord, values: unknown): Submission<true> {
  const target = cardDetailsOf(request)?.presented.target;
  const typed = textIn(values, TARGET);
  const isSame =
    target !== undefined &&
    typed !== undefined &&
    [target, showLabel(target, limits.label)].some((text) => fold(text) === fold(typed));
  return isSame ? { ok: true, value: true } : { ok: false, errors: { [TARGET]: modalTexts.wrongTarget } };
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}
