import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts, STATE_ICON, STATE_WORD } from '../texts/cards.ts';
import { DETAILS, FILL_IN, SHOW_ADDRESS, WITHDRAW } from './action-ids.ts';
import { TITLE_LENGTH } from './call-body.ts';
import {
  button,
  type Card,
  type CardOptions,
  heading,
  line,
  mentions,
  moment,
  moreMenu,
  quoted,
  threadLine,
  words,
} from './card.ts';
import type { CardDetails } from './card-details.ts';
import { buildOutcome } from './outcome.ts';
import { principalsLine } from './question-card.ts';
import { escapeMarkup, showLabel, showLine } from './show-text.ts';

/** Builds the card of a form: its purpose and the button that opens it, and later the submitted values. */
export function buildFormCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  return draw(request, options, {
    title: purposeOf(details),
    text: cardTexts.pleaseFillIn,
    waiting: principalsLine(cardTexts.fillInBy, request.principals),
    first: button(request.id, FILL_IN, cardTexts.fillIn, { style: 'primary' }),
  });
}

/** Builds the card of a callback: what is awaited and since when, and later the result. */
export function buildCallbackCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const purpose = purposeOf(details);
  return draw(request, options, {
    title: request.state === 'pending' ? cardTexts.external(purpose) : purpose,
    text: (title) => title,
    waiting: line(words(cardTexts.waitingSince), moment(request.createdAt)),
    first: button(request.id, SHOW_ADDRESS, cardTexts.showAddress),
  });
}

function purposeOf({ purpose = '', presented }: CardDetails): string {
  return purpose.trim() === '' ? presented.title : purpose;
}

function draw(
  request: RequestRecord,
  options: CardOptions,
  parts: {
    readonly title: string;
    readonly text: (title: string) => string;
    readonly waiting: KnownBlock;
    readonly first: ReturnType<typeof button>;
  },
): Card {
  const isPending = request.state === 'pending';
  const title = showLabel(parts.title, TITLE_LENGTH);
  const isCut = showLine(parts.title).length > TITLE_LENGTH;
  const text = isPending ? parts.text(title) : `${STATE_WORD[request.state]}: ${title}`;
  const { id } = request;
  const pending: KnownBlock[] = [
    line(
      words(cardTexts.requestedBy),
      ...mentions(request.requesters),
      words(` · ${cardTexts.expires}`),
      moment(request.expiresAt),
    ),
    parts.waiting,
    {
      type: 'actions',
      block_id: id,
      elements: [
        parts.first,
        moreMenu([
          [DETAILS, cardTexts.details],
          ...(options.view === 'thread' ? ([[WITHDRAW, cardTexts.withdraw]] as const) : []),
        ]),
      ],
    },
  ];
  return {
    text: escapeMarkup(text),
    blocks: [
      heading(`${STATE_ICON[request.state]} ${title}`),
      ...(isCut
        ? [quoted(cardTexts.about, parts.title, { characters: limits.quoteCharacters, lines: 4 })]
        : []),
      ...(isPending ? pending : buildOutcome(request, options)),
      ...threadLine(options),
    ],
  };
}
