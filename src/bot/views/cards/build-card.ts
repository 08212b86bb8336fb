import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../../store/port/store.ts';
import { type Elicitation, parseAnswerValue } from '../../../tools/mcp/server-pause.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts, STATE_ICON, STATE_WORD } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { deadline, moment, words } from '../texts/format.ts';
import { escapeMarkup, excerpt, showLabel, showLine } from '../texts/show-text.ts';
import { CONNECT, DECLINE, DETAILS, FILL_IN, REJECT, SHOW_ADDRESS, WITHDRAW } from './action-ids.ts';
import { buildApprovalCard } from './approval-card.ts';
import {
  button,
  type Card,
  type CardOptions,
  context,
  heading,
  line,
  mentions,
  moreMenu,
  plain,
  requesterNames,
  threadLine,
} from './card.ts';
import { type CardDetails, cardDetailsOf } from './card-details.ts';
import { buildOutcome } from './outcome.ts';
import { buildPlanCard } from './plan-card.ts';
import { buildQuestionCard, principalsLine } from './question-card.ts';

/** Builds the card of a request from its current record alone. */
export function buildCard(request: RequestRecord, options: CardOptions): Card {
  const details = cardDetailsOf(request);
  if (details === undefined) return buildUnreadableCard(request, options);
  switch (request.kind) {
    case 'approval':
      if (details.plan !== undefined)
        return buildPlanCard(request, { ...details, plan: details.plan }, options);
      return buildApprovalCard(request, details, options);
    case 'question':
      return buildQuestionCard(request, options);
    case 'form':
      if (details.consent !== undefined) return buildConsentCard(request, details, options);
      return details.pause === undefined
        ? buildFormCard(request, details, options)
        : buildElicitationCard(request, details, details.pause, options);
    case 'callback':
      return buildCallbackCard(request, details, options);
  }
}

/** Builds the card of an unreadable request, which can be ended but not approved. */
function buildUnreadableCard(request: RequestRecord, options: CardOptions): Card {
  const text = cardTexts.unreadable;
  const actions = [
    ...(request.kind === 'approval' ? [button(request.id, REJECT, cardTexts.reject)] : []),
    button(request.id, WITHDRAW, cardTexts.withdraw),
  ];
  return {
    text,
    blocks: [
      line(words(text)),
      line(words(cardTexts.requestedBy), ...requesterNames(request.requesters)),
      ...(request.state === 'pending'
        ? [{ type: 'actions' as const, elements: actions }]
        : buildOutcome(request, options)),
    ],
  };
}

/** Builds the card of a form: its purpose and the button that opens it, and later the submitted values. */
function buildFormCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  return drawForm(request, purposeOf(details), options, {
    heading: cardTexts.form,
    text: cardTexts.pleaseFillIn,
    waiting: principalsLine(cardTexts.fillInBy, request.principals),
    actions: [button(request.id, FILL_IN, cardTexts.fillIn, { style: 'primary' })],
  });
}

/** Builds the card of an account that a call waits for: whose, at which server, and the button that only they can use. */
function buildConsentCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  return drawForm(request, purposeOf(details), options, {
    heading: connectionTexts.cardHeading,
    text: connectionTexts.cardText,
    waiting: line(words(connectionTexts.cardExplanation), ...mentions(request.principals)),
    actions: [button(request.id, CONNECT, connectionTexts.connect, { style: 'primary' })],
    ...(request.state === 'answered' && { ended: connectionTexts.cardConnected }),
  });
}

/** Builds the card of a callback: what is awaited and since when, and later the result. */
function buildCallbackCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const link = details.ask?.way.kind === 'callback' ? details.ask.way.link : undefined;
  return drawForm(request, purposeOf(details), options, {
    heading: cardTexts.external,
    text: cardTexts.externalText,
    ...(link !== undefined && { asked: [line({ type: 'link', url: link, text: showLine(link) })] }),
    waiting: line(words(cardTexts.waitingSince), moment(request.createdAt)),
    actions: [button(request.id, SHOW_ADDRESS, cardTexts.showAddress)],
  });
}

function purposeOf({ purpose = '', presented }: CardDetails): string {
  return purpose.trim() === '' ? presented.title : purpose;
}

/** Draws the card of something that people fill in. The purpose is not ours, so it stands by itself and never in a line of ours. */
function drawForm(
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
    context(
      words(cardTexts.waiting),
      words(cardTexts.askedBy),
      ...requesterNames(request.requesters),
      words(` · ${cardTexts.expires}`),
      deadline(request.expiresAt),
    ),
    parts.waiting,
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
      state === 'pending'
        ? heading(parts.heading)
        : line(words(`${parts.icon ?? STATE_ICON[state]} `), words(word, { bold: true })),
      ...(parts.asked ?? []),
      { type: 'section', text: plain(shown.text) },
      ...(shown.leftOut === 0 ? [] : [line(words(cardTexts.notAllShown, { bold: true }))]),
      ...(state === 'pending' ? pending : buildOutcome(request, options)),
      ...threadLine(options),
    ],
  };
}

/** Builds the card of a server's question: which server asks, in which call, what for, and who can answer. */
function buildElicitationCard(
  request: RequestRecord,
  { purpose = '', presented, answers }: CardDetails,
  pause: Elicitation,
  options: CardOptions,
): Card {
  const { server, question, call } = pause;
  const isUrl = question.mode === 'url';
  const asked: KnownBlock[] = [
    line(
      words(cardTexts.serverAsks(showLabel(server, limits.label)), { bold: true }),
      words(cardTexts.forCall(showLabel(presented.title, limits.label))),
    ),
    ...(isUrl ? [line(words(cardTexts.opens), words(hostOf(question.url), { bold: true }))] : []),
    ...(call.protocol === 'older' && request.state === 'pending' ? [line(words(cardTexts.startsAgain))] : []),
    ...(answers !== undefined && request.state === 'pending'
      ? [line(words(cardTexts.yourAnswer[answers]))]
      : []),
  ];
  const isDeclined = parseAnswerValue(request.payload)?.action === 'decline';
  return drawForm(request, purpose, options, {
    heading: cardTexts.inputNeeded,
    text: cardTexts.inputNeededFor,
    asked,
    ...(isDeclined && { ended: cardTexts.declinedWord, icon: STATE_ICON.rejected }),
    waiting: principalsLine(cardTexts.answerBy, request.principals),
    actions: [
      button(request.id, FILL_IN, isUrl ? cardTexts.openLink : cardTexts.fillIn, { style: 'primary' }),
      button(request.id, DECLINE, cardTexts.decline),
    ],
  });
}

/** Returns the host of an address in the letters that a browser would connect to. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? showLabel(new URL(url).host, limits.label) : '';
}
