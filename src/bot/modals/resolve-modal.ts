import type { PlainTextOption } from '@slack/types';
import { z } from 'zod';
import type { RequestRecord } from '../../store/port/store.ts';
import { DID_NOT_RUN, RAN, RUN_AGAIN } from '../cards/action-ids.ts';
import { plain } from '../cards/card.ts';
import { titleOf } from '../cards/card-details.ts';
import { modalTexts } from '../texts/modals.ts';
import { type Modal, modal, multilineInput, RESOLVE_MODAL, type Submission, untrustedText } from './modal.ts';
import { parseModalState } from './modal-state.ts';
import { parseReason, REASON } from './reject-modal.ts';

export const VERDICT = 'verdict';

const Verdict = z.enum([RAN, DID_NOT_RUN, RUN_AGAIN]);
type Verdict = z.infer<typeof Verdict>;
const labels: Readonly<Record<Verdict, string>> = {
  [RAN]: modalTexts.ran,
  [DID_NOT_RUN]: modalTexts.didNotRun,
  [RUN_AGAIN]: modalTexts.runAgain,
};

/** Builds the modal that resolves an unknown outcome, with the clicked verdict preselected. */
export function buildResolveModal(request: RequestRecord, verdict: Verdict): Modal {
  const option = (value: Verdict): PlainTextOption => ({ text: plain(labels[value]), value });
  return modal(request.id, {
    callbackId: RESOLVE_MODAL,
    title: modalTexts.resolveTitle,
    tries: request.attempts,
    submit: modalTexts.save,
    blocks: [
      untrustedText(modalTexts.resolveIntro(titleOf(request))),
      {
        type: 'input',
        block_id: VERDICT,
        label: plain(modalTexts.whatHappened),
        element: {
          type: 'radio_buttons',
          action_id: VERDICT,
          options: Verdict.options.map(option),
          initial_option: option(verdict),
        },
      },
      multilineInput(REASON, modalTexts.howKnown),
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
    ...(!verdict.success && { [VERDICT]: modalTexts.chooseOne }),
    ...(!reason.ok && reason.errors),
  };
  return { ok: false, errors };
}
