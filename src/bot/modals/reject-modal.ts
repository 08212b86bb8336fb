import type { RequestRecord } from '../../store/port/store.ts';
import { cardDetailsOf } from '../cards/card-details.ts';
import { type Modal, modal, REJECT_MODAL, type Submission, said, sentences } from './modal.ts';
import { textIn } from './modal-state.ts';

export const REASON = 'reason';

/** Builds the modal that asks for the reason of a rejection, which the requester and the model are told. */
export function buildRejectModal(request: RequestRecord): Modal {
  const name = cardDetailsOf(request)?.name ?? 'this request';
  return modal(request.id, {
    callbackId: REJECT_MODAL,
    title: 'Reject',
    submit: 'Reject',
    blocks: [
      said(`You are about to reject ${name}.`),
      sentences(REASON, 'Why? The requester and the model will read it.'),
    ],
  });
}

/** Parses the reason; blanks count as none. */
export function parseReason(values: unknown): Submission<string> {
  const reason = textIn(values, REASON);
  if (reason === undefined) return { ok: false, errors: { [REASON]: 'Please say why.' } };
  return { ok: true, value: reason };
}
