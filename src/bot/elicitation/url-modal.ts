import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import type { Elicitation } from '../../tools/mcp/server-pause.ts';
import { OPEN_LINK } from '../cards/action-ids.ts';
import { line, plain, words } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import { type Modal, modal, untrustedText } from '../modals/modal.ts';
import { limits } from '../slack/limits.ts';
import { modalTexts } from '../texts/modals.ts';

export const URL_MODAL = 'open-link';

/** Builds the modal with the address that a server wants a person to open. Nothing fetches it; the person's browser does. */
export function buildUrlModal(request: RequestRecord, { server, question }: Elicitation): Modal | undefined {
  if (question.mode !== 'url') return undefined;
  const blocks: KnownBlock[] = [
    line(words(modalTexts.askedBy(showLabel(server, limits.label)))),
    untrustedText(question.message),
    line(words(modalTexts.opens), words(hostOf(question.url), { bold: true })),
    {
      type: 'actions',
      elements: [
        { type: 'button', action_id: OPEN_LINK, text: plain(modalTexts.openLink), url: question.url },
      ],
    },
    line(words(modalTexts.continueAfter)),
  ];
  return modal(request.id, {
    callbackId: URL_MODAL,
    title: modalTexts.linkTitle,
    submit: modalTexts.continue,
    blocks,
  });
}

/** Returns the host of an address in the letters that a browser would connect to. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? showLabel(new URL(url).host, limits.label) : '';
}
