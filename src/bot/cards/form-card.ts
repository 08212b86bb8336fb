import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { limits } from '../slack/limits.ts';
import { cardTexts, STATE_ICON, STATE_WORD } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { CONNECT, DETAILS, FILL_IN, SHOW_ADDRESS, WITHDRAW } from './action-ids.ts';
import {
  button,
  type Card,
  type CardOptions,
  heading,
  line,
  mentions,
  moment,
  moreMenu,
  plain,
  threadLine,
  words,
} from './card.ts';
import type { CardDetails } from './card-details.ts';
import { buildOutcome } from './outcome.ts';
import { principalsLine } from './question-card.ts';
import { escapeMarkup, excerpt, showLabel } from './values/show-text.ts';

/** Builds the card of a form: its purpose and the button that opens it, and later the submitted values. */
export function buildFormCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  return drawForm(request, purposeOf(details), options, {
    heading: cardTexts.form,
    text: cardTexts.pleaseFillIn,
    waiting: principalsLine(cardTexts.fillInBy, request.principals),
    actions: [button(request.id, FILL_IN, cardTexts.fillIn, { style: 'primary' })],
  });
}

/** Builds the card of an account that a call waits for: whose, at which server, and the button that only they can use. */
export function buildConsentCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  return drawForm(request, purposeOf(details), options, {
    heading: connectionTexts.cardHeading,
    text: connectionTexts.cardText,
    waiting: line(words(connectionTexts.cardExplanation), ...mentions(request.principals)),
    actions: [button(request.id, CONNECT, connectionTexts.connect, { style: 'primary' })],
    ...(request.state === 'answered' && { ended: connectionTexts.cardConnected }),
  });
}

/** Builds the card of a callback: what is awaited and since when, and later the result. */
export function buildCallbackCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  return drawForm(request, purposeOf(details), options, {
    heading: cardTexts.external,
    text: cardTexts.externalText,
    waiting: line(words(cardTexts.waitingSince), moment(request.createdAt)),
    actions: [button(request.id, SHOW_ADDRESS, cardTexts.showAddress)],
  });
}

function purposeOf({ purpose = '', presented }: CardDetails): string {
  return purpose.trim() === '' ? presented.title : purpose;
}

/** Draws the card of something that people fill in. The purpose is not ours, so it stands by itself and never in a line of ours. */
export function drawForm(
  request: RequestRecord,
  purpose: string,
  options: CardOptions,
  parts: {
    readonly heading: string;
    readonly text: (title: string) => string;
    readonly waiting: KnownBlock;
    readonly actions: readonly ReturnType<typeof button>[];
    /** Lines about who asks, before the purpose. */
    readonly asked?: readonly KnownBlock[];
    /** The word for the end, where it is not that of the state. */
    readonly ended?: string;
    /** The icon in place of the state's own. */
    readonly icon?: string;
  },
): Card {
  const { id, state } = request;
  const word = parts.ended ?? STATE_WORD[state];
  const title = showLabel(purpose, limits.label);
  const shown = excerpt(purpose, { characters: limits.quoteCharacters, lines: limits.quoteLines });
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
        ...parts.actions,
        moreMenu([
          [DETAILS, cardTexts.details],
          ...(options.view === 'thread' ? ([[WITHDRAW, cardTexts.withdraw]] as const) : []),
        ]),
      ],
    },
  ];
  return {
    text: escapeMarkup(state === 'pending' ? parts.text(title) : `${word}: ${title}`),
    blocks: [
      heading(`${parts.icon ?? STATE_ICON[state]} ${state === 'pending' ? parts.heading : word}`),
      ...(parts.asked ?? []),
      { type: 'section', text: plain(shown.text) },
      ...(shown.leftOut === 0 ? [] : [line(words(cardTexts.notAllShown, { bold: true }))]),
      ...(state === 'pending' ? pending : buildOutcome(request, options)),
      ...threadLine(options),
    ],
  };
}
