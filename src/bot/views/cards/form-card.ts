import type { KnownBlock, RichTextElement } from '@slack/types';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { limits } from '../../slack/limits.ts';
import type { Piece } from '../facets/facet-lines.ts';
import { cardTexts } from '../texts/cards.ts';
import { moment, words } from '../texts/format.ts';
import { modalTexts } from '../texts/modals.ts';
import { escapeMarkup, excerpt, showLabel, showText } from '../texts/show-text.ts';
import { DETAILS, WITHDRAW } from './action-ids.ts';
import { fitsHeading } from './call-body.ts';
import {
  type button,
  type Card,
  type CardOptions,
  context,
  heading,
  line,
  moreMenu,
  plain,
  requesterNames,
  threadLine,
} from './card.ts';
import { type CardDetails, stateOf } from './card-details.ts';
import { buildOutcome } from './outcome.ts';

/** Draws the card of something that people fill in. The purpose is not ours, so it stands by itself and never in a line of ours. */
export function drawForm(
  request: RequestRecord,
  purpose: string,
  options: CardOptions,
  parts: {
    /** The heading where the purpose is too long for one. */
    readonly heading: string;
    readonly text: (title: string) => string;
    /** Says what is awaited of whom, or since when. */
    readonly waiting: readonly RichTextElement[];
    readonly actions: readonly ReturnType<typeof button>[];
    /** Lines about who asks, before the purpose. */
    readonly asked?: readonly KnownBlock[];
  },
): Card {
  const { id, state } = request;
  const { icon, word } = stateOf(request);
  const title = showLabel(purpose, limits.label);
  const shown = excerpt(purpose, { characters: limits.quoteCharacters, lines: limits.quoteLines });
  const isHeading = fitsHeading(purpose);
  const whole: KnownBlock[] = [
    { type: 'section', text: plain(shown.text) },
    ...(shown.leftOut === 0 ? [] : [line(words(cardTexts.notAllShown, { bold: true }))]),
  ];
  const pending: KnownBlock[] = [
    heading(isHeading ? purpose : parts.heading),
    ...(isHeading ? [] : whole),
    context(
      words(cardTexts.waiting),
      ...parts.waiting,
      words(` · ${cardTexts.askedBy}`),
      ...requesterNames(request.requesters),
      words(` · ${cardTexts.until}`),
      moment(request.expiresAt),
    ),
    ...(parts.asked ?? []),
    {
      type: 'actions',
      block_id: id,
      elements: [
        ...parts.actions,
        ...moreMenu([
          [DETAILS, cardTexts.details],
          ...(options.view === 'thread' ? ([[WITHDRAW, cardTexts.withdraw]] as const) : []),
        ]),
      ],
    },
  ];
  return {
    text: escapeMarkup(state === 'pending' ? parts.text(title) : `${word}: ${title}`),
    blocks: [
      ...(state === 'pending'
        ? pending
        : [
            line(words(`${icon} `), words(isHeading ? title : word, { bold: true })),
            ...(parts.asked ?? []),
            ...(isHeading ? [] : whole),
            ...buildOutcome(request, options),
          ]),
      ...threadLine(options),
    ],
  };
}

/** Returns what a form is for: its own words, or the title of its call. */
export function purposeOf({ purpose = '', presented }: CardDetails): string {
  return purpose.trim() === '' ? presented.title : purpose;
}

/** Lists the words of a form for Details. */
export function exactPurpose(_request: RequestRecord, { purpose = '' }: CardDetails): readonly Piece[] {
  return [{ label: modalTexts.question, text: showText(purpose) }];
}

/** Returns the host of an address in the letters that a browser would connect to. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? showLabel(new URL(url).host, limits.label) : '';
}
