import type { ActionsBlock, KnownBlock } from '@slack/types';
import { isDeeperThan } from '../../../agent/json.ts';
import { type RequestRecord, resolutionOf } from '../../../store/port/request-record.ts';
import { limits } from '../../slack/limits.ts';
import { askKindOf } from '../asks/ask-kinds.ts';
import { NEXT_PAGE, PREVIOUS_PAGE, REJECT } from '../cards/action-ids.ts';
import { approveButton, contextLine } from '../cards/approval-card.ts';
import { button, context, line, preformatted } from '../cards/card.ts';
import { type CardDetails, cardDetailsOf, payloadOf, stateOf } from '../cards/card-details.ts';
import { choiceElements } from '../cards/own-question.ts';
import { peopleOf } from '../cards/question-card.ts';
import { plainValue } from '../cards/render-value.ts';
import { onceRunText, reviewLines } from '../facets/approver-lines.ts';
import { facetPieces, type Piece, whyLine } from '../facets/facet-lines.ts';
import { cardTexts } from '../texts/cards.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { words } from '../texts/format.ts';
import { modalTexts } from '../texts/modals.ts';
import { characterStart, showLabel, showText } from '../texts/show-text.ts';
import { DETAILS_MODAL, type Modal, modal } from './modal.ts';

/** Builds the full view, on as many pages as needed. Approve is in the last block of the last page. */
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
    ...(pages[shown] ?? []).flatMap(({ label, text }) => [
      line(words(label, { bold: true })),
      preformatted(text),
    ]),
    // Below the texts, so that nobody approves above what they have not read.
    ...(actions.length === 0 ? [] : [{ type: 'actions' as const, block_id: request.id, elements: actions }]),
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
      ? (choiceElements(request.id, details) ?? [approveButton(request, details)])
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
      ? [...reviewLines(request), whyLine(request, details), context(words(onceRunText(details)))]
      : [line(words(modalTexts.whoCanDecide), ...peopleOf(request.principals))]),
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

/** Lists every text of a request whole: what it does, its exact arguments, its previews, and how it ended. */
export function piecesOf(request: RequestRecord, details: CardDetails): Piece[] {
  return [
    { label: modalTexts.description, text: showText(details.facets.description ?? '') },
    ...askKindOf(request, details.interrupt).exact(request, details),
    ...facetPieces(details),
    ...outcomePieces(request),
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
  return [{ label: cardTexts.reason, text: showText(resolutionOf(payload).reason) }];
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
