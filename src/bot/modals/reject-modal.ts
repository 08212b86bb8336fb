import type { RequestRecord } from '../../store/port/store.ts';
import { titleOf } from '../cards/card-details.ts';
import { modalTexts } from '../texts/modals.ts';
import { type Modal, modal, multilineInput, REJECT_MODAL, type Submission, untrustedText } from './modal.ts';
import { textIn } from './modal-state.ts';

export const REASON = 'reason';

/** Builds the modal that asks for the reason of a rejection, which the requester and the model are told. */
export function buildRejectModal(request: RequestRecord): Modal {
  return modal(request.id, {
    callbackId: REJECT_MODAL,
    title: modalTexts.rejectTitle,
    submit: modalTexts.reject,
    blocks: [
      untrustedText(modalTexts.rejectIntro(titleOf(request))),
      multilineInput(REASON, modalTexts.rejectReason),
    ],
  });
}

/** Parses the reason; blanks count as none. */
export function parseReason(values: unknown): Submission<string> {
  const reason = textIn(values, REASON);
  if (reason === undefined) return { ok: false, errors: { [REASON]: modalTexts.reasonMissing } };
  return { ok: true, value: reason };
}
