import type { KnownBlock, RichTextElement } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { pausedIn, unansweredIn } from '../requests/paused-action.ts';
import { readDetails } from '../requests/request-details.ts';
import { cardTexts } from '../texts/cards.ts';
import { line, mention, moment, words } from './card.ts';
import { showLine } from './values/show-text.ts';

/** Tells whether an action was done as it was approved, and not only started, or ended without what its server asked for. */
export function isDone(request: RequestRecord): boolean {
  const isOver = pausedIn(request) === undefined && unansweredIn(request) === undefined;
  return request.state === 'succeeded' && isOver;
}

/** Says until when an action that succeeded can be undone; nothing if it cannot, or not any more. */
export function undoUntil(request: RequestRecord): RichTextElement[] {
  const undoMs = undoOfferMs(request);
  if (undoMs === undefined || request.settledAt === undefined) return [];
  return [words(cardTexts.undoUntil), moment(request.settledAt + undoMs)];
}

/** Returns for how long after its success an action can be undone; `undefined` if it cannot, or not any more. */
export function undoOfferMs(request: RequestRecord): number | undefined {
  const isOffered = request.undo === undefined || request.undo.step === 'offered';
  return isOffered && isDone(request) ? readDetails(request)?.undoMs : undefined;
}

/** Says who asked to undo the action, and whether it was undone. */
export function undoLine({ undo }: RequestRecord): KnownBlock[] {
  const { step, by: who = '', link, isDone, at } = undo ?? {};
  if (step === undefined || step === 'offered' || step === 'over') return [];
  const person = who === '' ? words(cardTexts.nobody) : mention(who);
  const lead =
    isDone === true
      ? [words(cardTexts.undone), moment(at ?? 0), words(cardTexts.undoneBy)]
      : [words(isDone === false ? cardTexts.notUndone : cardTexts.undoRequested)];
  const view =
    link === undefined || !/^https?:\/\//.test(link)
      ? []
      : [words(' · '), { type: 'link' as const, url: showLine(link), text: cardTexts.viewUndo }];
  return [line(...lead, person, ...view)];
}
