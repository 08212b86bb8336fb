import type { RequestRecord } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { buildCallBody } from '../cards/call-body.ts';
import { line, plain, words } from '../cards/card.ts';
import { cardDetailsOf } from '../cards/card-details.ts';
import { showLabel } from '../cards/values/show-text.ts';
import { limits } from '../slack/limits.ts';
import { grantTexts } from '../texts/grants.ts';
import { modalTexts } from '../texts/modals.ts';
import { APPROVE_MODAL, GRANT_MODAL, type Modal, modal, type Submission, untrustedText } from './modal.ts';
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

/** Builds the modal that approves a call and allows the same again: the call, and the exact scope in words. */
export function buildGrantModal(request: RequestRecord): Modal | string {
  const details = cardDetailsOf(request);
  const terms = details?.policy?.grants;
  if (details === undefined || terms === undefined) return modalTexts.unreadable;
  const scope = grantTexts.scope(terms, readableName(details.name));
  return modal(request.id, {
    callbackId: GRANT_MODAL,
    title: grantTexts.title,
    submit: grantTexts.submit,
    blocks: [
      untrustedText(grantTexts.intro(details.presented.title)),
      ...buildCallBody(details).blocks,
      line(words(showLabel(scope, limits.quoteCharacters), { bold: true })),
      line(words(grantTexts.rules)),
    ],
  });
}
