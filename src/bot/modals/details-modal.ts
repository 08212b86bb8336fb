import type { Button, KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { DETAILS, NEXT_PAGE, PREVIOUS_PAGE, REJECT } from '../cards/action-ids.ts';
import { approveButton, riskLine } from '../cards/approval-card.ts';
import { button, line, mentions, moment, preformatted, words } from '../cards/card.ts';
import { type CardDetails, cardDetailsOf, questionOf } from '../cards/card-details.ts';
import { numbered } from '../cards/choices.ts';
import { payloadOf, signatures } from '../cards/outcome.ts';
import { renderValue } from '../cards/render-value.ts';
import { showText } from '../cards/show-text.ts';
import { DETAILS_MODAL, type Modal, modal } from './modal.ts';
import { type Piece, paginate } from './paginate.ts';

/** Builds the full view, on as many pages as needed. Approve is on the last page, after everything else. */
export function buildDetailsModal(request: RequestRecord, { page }: { readonly page: number }): Modal {
  const details = cardDetailsOf(request);
  if (details === undefined)
    return modal(request.id, {
      callbackId: DETAILS_MODAL,
      title: 'Details',
      blocks: [line(words('This request cannot be shown.'))],
    });
  const pages = paginate(piecesOf(request, details));
  const shown = Math.min(page, pages.length - 1);
  const isLast = shown === pages.length - 1;
  const blocks: KnownBlock[] = [
    ...(shown === 0 ? head(request, details) : []),
    ...(pages.length === 1 ? [] : [line(words(`Page ${shown + 1} of ${pages.length}`, { bold: true }))]),
    ...(pages[shown] ?? []).flatMap(({ label, text }) => [
      line(words(label, { bold: true })),
      preformatted(text),
    ]),
  ];
  const actions = [
    ...(shown > 0 ? [button(request.id, PREVIOUS_PAGE, 'Previous page')] : []),
    ...(isLast ? [] : [button(request.id, NEXT_PAGE, 'Next page', { style: 'primary' })]),
    ...decisions(request, details, { isLast }),
  ];
  if (actions.length > 0) blocks.push({ type: 'actions', block_id: DETAILS, elements: actions });
  return modal(request.id, { callbackId: DETAILS_MODAL, title: 'Details', page: shown, blocks });
}

function decisions(
  request: RequestRecord,
  details: CardDetails,
  { isLast }: { readonly isLast: boolean },
): Button[] {
  if (request.kind !== 'approval' || request.state !== 'pending') return [];
  const canBeSeen = renderValue(details.input).leftOut === undefined;
  return [
    ...(isLast && canBeSeen ? [approveButton(request.id, details)] : []),
    button(request.id, REJECT, 'Reject', { style: 'danger' }),
  ];
}

function head(request: RequestRecord, details: CardDetails): KnownBlock[] {
  return [
    line(words(showText(details.name), { bold: true }), words(` (${request.state})`)),
    line(words('Requested by '), ...mentions(request.requesters), words(', '), moment(request.createdAt)),
    line(words('Who may decide: '), ...mentions(request.principals)),
    ...(request.kind === 'approval'
      ? [line(words(`${request.approvals} of ${request.policy.quorum} signed`)), ...signatures(request)]
      : []),
    ...riskLine(details),
    line(words('Expires '), moment(request.expiresAt)),
  ];
}

function piecesOf(request: RequestRecord, details: CardDetails): Piece[] {
  const outcome = request.state === 'pending' ? undefined : payloadOf(request);
  const { question, choices } = questionOf(request);
  const matter: Piece[] =
    request.kind === 'question'
      ? [
          { label: 'The question', text: showText(question) },
          { label: 'The choices', text: numbered(choices) },
        ]
      : [{ label: 'The arguments', text: renderValue(details.input).text }];
  return [
    { label: 'What the tool says of itself', text: showText(details.description ?? '') },
    ...matter,
    ...(details.originalInput === undefined
      ? []
      : [{ label: 'The arguments as the model gave them', text: renderValue(details.originalInput).text }]),
    { label: "The model's own words, which nobody has checked", text: showText(details.why ?? '') },
    ...(outcome === undefined ? [] : [{ label: 'What came of it', text: renderValue(outcome).text }]),
  ];
}
