import type { RequestRecord } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { buildCallBody } from '../cards/call-body.ts';
import { line, words } from '../cards/card.ts';
import { cardDetailsOf } from '../cards/card-details.ts';
import { showLabel } from '../cards/values/show-text.ts';
import { limits } from '../slack/limits.ts';
import { grantTexts } from '../texts/grants.ts';
import { modalTexts } from '../texts/modals.ts';
import { GRANT_MODAL, type Modal, modal, untrustedText } from './modal.ts';

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
