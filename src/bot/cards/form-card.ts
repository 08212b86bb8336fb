import type { KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { limits } from '../slack/limits.ts';
import { DETAILS, FILL_IN, SHOW_ADDRESS, WITHDRAW } from './action-ids.ts';
import {
  button,
  type Card,
  type CardOptions,
  heading,
  line,
  mentions,
  moment,
  preformatted,
  quoted,
  threadLine,
  words,
} from './card.ts';
import type { CardDetails } from './card-details.ts';
import { buildOutcome } from './outcome.ts';
import { renderValue } from './render-value.ts';
import { escapeMarkup, showLabel } from './show-text.ts';

/** Builds the card of a form: its purpose and the button that opens it, and later the submitted values. */
export function buildFormCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const name = showLabel(details.name, limits.label - 30);
  const isPending = request.state === 'pending';
  const title = isPending ? `Please fill in: ${name}` : `${name}: ${request.state}`;
  return draw(request, details, options, {
    title,
    waiting: [line(words('To be filled in by '), ...mentions(request.principals))],
    first: [button(request.id, FILL_IN, 'Fill in', { style: 'primary' })],
  });
}

/** Builds the card of a callback: what is awaited and since when, and later the result. */
export function buildCallbackCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const name = showLabel(details.name, limits.label - 30);
  const isPending = request.state === 'pending';
  const title = isPending ? `Waiting for an answer from outside: ${name}` : `${name}: ${request.state}`;
  return draw(request, details, options, {
    title,
    waiting: [line(words('Waiting since '), moment(request.createdAt))],
    first: [button(request.id, SHOW_ADDRESS, 'Show address')],
  });
}

function draw(
  request: RequestRecord,
  details: CardDetails,
  options: CardOptions,
  parts: {
    readonly title: string;
    readonly waiting: readonly KnownBlock[];
    readonly first: ReturnType<typeof button>[];
  },
): Card {
  const { text, leftOut } = renderValue(details.input, {
    characters: limits.contextCharacters,
    lines: limits.contextLines,
  });
  const purpose = details.purpose ?? details.description ?? options.tool?.description ?? '';
  const body: KnownBlock[] = [
    heading(parts.title),
    ...(purpose.trim() === '' ? [] : [quoted('What it is about', purpose)]),
    ...(text === '{}' ? [] : [preformatted(text)]),
    ...(leftOut === undefined ? [] : [line(words(`${leftOut}.`, { bold: true }))]),
    line(words('Requested by '), ...mentions(request.requesters), words(', '), moment(request.createdAt)),
  ];
  const foot =
    request.state === 'pending' ? pendingFoot(request, options, parts) : buildOutcome(request, options);
  return { text: escapeMarkup(parts.title), blocks: [...body, ...foot, ...threadLine(options)] };
}

function pendingFoot(
  request: RequestRecord,
  { view }: CardOptions,
  {
    waiting,
    first,
  }: { readonly waiting: readonly KnownBlock[]; readonly first: ReturnType<typeof button>[] },
): KnownBlock[] {
  const elements = [
    ...first,
    button(request.id, DETAILS, 'Details'),
    ...(view === 'thread' ? [button(request.id, WITHDRAW, 'Withdraw')] : []),
  ];
  return [...waiting, line(words('Expires '), moment(request.expiresAt)), { type: 'actions', elements }];
}
