import type { ActionsBlock, KnownBlock } from '@slack/types';
import { isDeeperThan } from '../../../agent/json.ts';
import type { ReadFile } from '../../../engine/request-details.ts';
import type { RequestRecord } from '../../../store/port/store.ts';
import { questionIn } from '../../../tools/pause.ts';
import { limits } from '../../slack/limits.ts';
import { NEXT_PAGE, PREVIOUS_PAGE, REJECT } from '../cards/action-ids.ts';
import { approvalLines, approveButton, contextLine, whyApproval } from '../cards/approval-card.ts';
import { button, context, line, preformatted } from '../cards/card.ts';
import { type CardDetails, cardDetailsOf, payloadOf, questionOf, stateOf } from '../cards/card-details.ts';
import { votesBy } from '../cards/outcome.ts';
import { choiceElements } from '../cards/own-question.ts';
import { numbered, principalsLine } from '../cards/question-card.ts';
import { plainValue, renderValue } from '../cards/render-value.ts';
import { cardTexts } from '../texts/cards.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { sizeText } from '../texts/files.ts';
import { words } from '../texts/format.ts';
import { modalTexts } from '../texts/modals.ts';
import { characterStart, showLabel, showText } from '../texts/show-text.ts';
import { DETAILS_MODAL, type Modal, modal } from './modal.ts';

/** Builds the full view, on as many pages as needed. Approve is on the last page. */
export function buildDetailsModal(
  request: RequestRecord,
  { page, link }: { readonly page: number; readonly link?: string | undefined },
): Modal {
  const details = cardDetailsOf(request);
  if (details === undefined)
    return modal(request.id, {
      callbackId: DETAILS_MODAL,
      title: modalTexts.detailsTitle,
      blocks: [line(words(modalTexts.unreadable))],
    });
  const pages = paginate(piecesOf(request, details));
  const shown = Math.min(page, pages.length - 1);
  const isLast = shown === pages.length - 1;
  const actions: ActionsBlock['elements'] = [
    ...(shown > 0 ? [button(request.id, PREVIOUS_PAGE, modalTexts.previousPage)] : []),
    ...(isLast ? [] : [button(request.id, NEXT_PAGE, modalTexts.nextPage, { style: 'primary' })]),
    ...decisions(request, details, { isLast }),
  ];
  const blocks: KnownBlock[] = [
    ...(shown === 0 ? [...head(request, details), ...pageLine(link)] : []),
    ...(pages.length === 1 ? [] : [line(words(modalTexts.page(shown + 1, pages.length), { bold: true }))]),
    // Before the texts, so that nobody has to look for it below them.
    ...(actions.length === 0 ? [] : [{ type: 'actions' as const, block_id: request.id, elements: actions }]),
    ...(pages[shown] ?? []).flatMap(({ label, text }) => [
      line(words(label, { bold: true })),
      preformatted(text),
    ]),
  ];
  return modal(request.id, {
    callbackId: DETAILS_MODAL,
    title: modalTexts.detailsTitle,
    page: shown,
    blocks,
  });
}

function decisions(
  request: RequestRecord,
  details: CardDetails,
  { isLast }: { readonly isLast: boolean },
): ActionsBlock['elements'] {
  if (request.kind !== 'approval' || request.state !== 'pending') return [];
  // The steps that were chosen are approved on the card.
  const isNarrowed = request.steps?.some(({ isChosen }) => !isChosen) === true;
  const canBeSeen = !isDeeperThan(limits.depth, details.input);
  return [
    ...(isLast && canBeSeen && !isNarrowed
      ? (choiceElements(request.id, details) ?? [approveButton(request.id, details)])
      : []),
    button(request.id, REJECT, cardTexts.reject),
  ];
}

function head(request: RequestRecord, details: CardDetails): KnownBlock[] {
  const { presented, policy } = details;
  const isApproval = request.kind === 'approval';
  return [
    line(
      words(showLabel(presented.title, limits.answerCharacters), { bold: true }),
      words(` · ${stateOf(request).word}`),
    ),
    contextLine(request, details, { view: 'direct' }),
    ...(isApproval
      ? approvalLines(request, details)
      : [principalsLine(modalTexts.whoCanDecide, request.principals)]),
    ...(isApproval ? [context(words(`${cardTexts.whyApproval}: ${whyApproval(details)}`))] : []),
    ...rejectedLine(request),
    ...(request.policy.delegation === true ? [line(words(delegationTexts.mayDelegate))] : []),
    line(
      words(
        [
          modalTexts.toolName(showLabel(details.name, limits.label)),
          ...(policy?.name === undefined
            ? []
            : [modalTexts.policyName(showLabel(policy.name, limits.label))]),
        ].join(' · '),
      ),
    ),
  ];
}

/** Leads to the request on the page beside Slack, where there is one. */
function pageLine(link: string | undefined): KnownBlock[] {
  return link === undefined ? [] : [line({ type: 'link', url: link, text: modalTexts.openPage })];
}

function rejectedLine(request: RequestRecord): KnownBlock[] {
  const votes = votesBy(request, 'reject');
  return votes.length === 0 ? [] : [line(words(cardTexts.rejectedBy), ...votes)];
}

/** The exact words or values that a request is about. */
function exactPieces(request: RequestRecord, details: CardDetails): Piece[] {
  switch (request.kind) {
    case 'approval':
      return [
        ...ownQuestion(request, details),
        { label: modalTexts.arguments(request.state === 'pending'), text: renderValue(details.input).text },
      ];
    case 'question': {
      const { message: question, choices } = questionOf(request);
      return [
        { label: modalTexts.question, text: showText(question) },
        { label: modalTexts.choices, text: numbered(choices) },
      ];
    }
    default:
      return [{ label: modalTexts.question, text: showText(details.purpose ?? '') }];
  }
}

/** The question of the tool that approvers decide about, and its choices. */
function ownQuestion(request: RequestRecord, { ask }: CardDetails): Piece[] {
  if (ask === undefined) return [];
  const { message, choices } = questionIn(ask);
  return [
    { label: modalTexts.question, text: showText(message) },
    ...(ask.way.kind === 'choice' ? [{ label: modalTexts.choices, text: numbered(choices) }] : []),
  ].filter(({ text }) => request.kind === 'approval' && text !== '');
}

/** Lists every text of a request whole: what it does, its exact arguments, its previews, and how it ended. */
export function piecesOf(request: RequestRecord, details: CardDetails): Piece[] {
  return [
    { label: modalTexts.description, text: showText(details.description ?? '') },
    ...exactPieces(request, details),
    ...(details.originalInput === undefined
      ? []
      : [{ label: modalTexts.original, text: renderValue(details.originalInput).text }]),
    ...previewPieces(details),
    { label: modalTexts.explanation, text: showText(details.why ?? '') },
    { label: modalTexts.files, text: (details.files ?? []).map(fileLine).join('\n') },
    ...outcomePieces(request),
  ];
}

function fileLine({ name, type, size, sha256 }: ReadFile): string {
  const facts = [type, size === undefined ? undefined : sizeText(size)].filter((fact) => fact !== undefined);
  return `${showLabel(name, limits.label)} (${facts.join(', ')}), sha256 ${sha256}`;
}

function previewPieces({ presented: { preview, previousPreview } }: CardDetails): Piece[] {
  const shown = preview?.outcome === 'shown' ? preview : undefined;
  return [
    { label: modalTexts.previewBefore, text: showText(shown?.before ?? '') },
    { label: modalTexts.previewAfter, text: showText(shown?.after ?? '') },
    { label: modalTexts.previousBefore, text: showText(previousPreview?.before ?? '') },
    { label: modalTexts.previousAfter, text: showText(previousPreview?.after ?? '') },
  ];
}

/** Shows the result in words, or the reason that a person gave. */
function outcomePieces(request: RequestRecord): Piece[] {
  const { state, payload = '' } = request;
  const outcome = payloadOf(request);
  if (['succeeded', 'failed', 'answered'].includes(state))
    return outcome === undefined ? [] : [{ label: modalTexts.result, text: showText(plainValue(outcome)) }];
  if (state === 'rejected' || state === 'withdrawn')
    return [{ label: cardTexts.reason, text: showText(payload) }];
  if (state !== 'resolved') return [];
  return [{ label: cardTexts.reason, text: showText(payload.split('\n').slice(1).join('\n')) }];
}

/** A labelled text that may span several pages. */
export interface Piece {
  readonly label: string;
  readonly text: string;
}

const MOST_PIECES = 30;

/**
 * Splits texts into pages, in order and without losing a character: the parts of one text, joined, are that text. There is always a
 * page, and an empty text is left out.
 */
function paginate(pieces: readonly Piece[]): Piece[][] {
  const parts = pieces.flatMap(({ label, text }) =>
    divide(text, limits.preformattedText).map((part, index) => ({
      label: index === 0 ? label : modalTexts.continued(label),
      text: part,
    })),
  );
  const pages: Piece[][] = [];
  let room = 0;
  for (const part of parts) {
    const page = pages.at(-1);
    if (page === undefined || part.text.length > room || page.length === MOST_PIECES) {
      pages.push([part]);
      room = limits.detailsPageCharacters - part.text.length;
      continue;
    }
    page.push(part);
    room -= part.text.length;
  }
  return pages.length === 0 ? [[]] : pages;
}

/** Splits after a line end if there is one, and never within a visible character. */
function divide(text: string, length: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > length) {
    const lineEnd = rest.lastIndexOf('\n', length - 1) + 1;
    const end = lineEnd > 0 ? lineEnd : characterStart(rest, length);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest === '' ? parts : [...parts, rest];
}
