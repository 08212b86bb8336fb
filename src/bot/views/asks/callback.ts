import { askOf } from '../../../tools/pause.ts';
import { SHOW_ADDRESS } from '../cards/action-ids.ts';
import { button, line } from '../cards/card.ts';
import { drawForm, exactPurpose, purposeOf } from '../cards/form-card.ts';
import { cardTexts } from '../texts/cards.ts';
import { moment, words } from '../texts/format.ts';
import { homeTexts } from '../texts/home.ts';
import { showLine } from '../texts/show-text.ts';
import type { AskKind } from './ask-kind.ts';

/** A report of another system: what is awaited and since when, and later the result. */
export const callback: AskKind = {
  name: 'callback',
  recordedAs: 'callback',
  isOf: (interrupt) => askOf(interrupt)?.way.kind === 'callback',
  expiresInMs: 7 * 86_400_000,
  card: (request, details, options) => {
    const link = details.ask?.way.kind === 'callback' ? details.ask.way.link : undefined;
    const purpose = request.state === 'pending' ? homeTexts.awaited(purposeOf(details)) : purposeOf(details);
    return drawForm(request, purpose, options, {
      heading: cardTexts.external,
      text: cardTexts.externalText,
      ...(link !== undefined && { asked: [line({ type: 'link', url: link, text: showLine(link) })] }),
      waiting: [words(cardTexts.waitingSince), moment(request.createdAt)],
      actions: [button(request.id, SHOW_ADDRESS, cardTexts.showAddress)],
    });
  },
  exact: exactPurpose,
  buttons: [{ id: SHOW_ADDRESS, decide: () => ({ type: 'show-address' }) }],
  modals: [],
};
