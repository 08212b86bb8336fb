import type { PlainTextOption } from '@slack/types';
import { z } from 'zod';
import type { RequestRecord } from '../../store/port/store.ts';
import { DID_NOT_RUN, RAN, RUN_AGAIN } from '../cards/action-ids.ts';
import { plain } from '../cards/card.ts';
import { cardDetailsOf } from '../cards/card-details.ts';
import { type Modal, modal, RESOLVE_MODAL, type Submission, said, sentences } from './modal.ts';
import { parseModalState } from './modal-state.ts';
import { parseReason, REASON } from './reject-modal.ts';

export const VERDICT = 'verdict';

const Verdict = z.enum([RAN, DID_NOT_RUN, RUN_AGAIN]);
type Verdict = z.infer<typeof Verdict>;
const labels: Readonly<Record<Verdict, string>> = {
  [RAN]: 'It ran',
  [DID_NOT_RUN]: 'It did not run',
  [RUN_AGAIN]: 'Run it again (if it did run, it takes effect twice)',
};

/** Builds the modal that resolves an unknown outcome, with the clicked verdict preselected. */
export function buildResolveModal(request: RequestRecord, verdict: Verdict): Modal {
  const option = (value: Verdict): PlainTextOption => ({ text: plain(labels[value]), value });
  const name = cardDetailsOf(request)?.name ?? 'This action';
  return modal(request.id, {
    callbackId: RESOLVE_MODAL,
    title: 'Outcome unknown',
    tries: request.attempts,
    submit: 'Save',
    blocks: [
      said(`${name} was started, and its outcome is unknown.`),
      {
        type: 'input',
        block_id: VERDICT,
        label: plain('What became of it?'),
        element: {
          type: 'radio_buttons',
          action_id: VERDICT,
          options: Verdict.options.map(option),
          initial_option: option(verdict),
        },
      },
      sentences(REASON, 'How do you know? The requester and the model will read it.'),
    ],
  });
}

/** Parses the verdict and the reason. */
export function parseResolution(
  values: unknown,
): Submission<{ readonly verdict: Verdict; readonly reason: string }> {
  const verdict = Verdict.safeParse(parseModalState(values).get(VERDICT)?.state.selected_option?.value);
  const reason = parseReason(values);
  if (verdict.success && reason.ok)
    return { ok: true, value: { verdict: verdict.data, reason: reason.value } };
  const errors = {
    ...(!verdict.success && { [VERDICT]: 'Please choose one.' }),
    ...(!reason.ok && reason.errors),
  };
  return { ok: false, errors };
}
