import type { Button, ConfirmationDialog, KnownBlock, RichTextElement } from '@slack/types';
import type { RequestRecord } from '../../store/port/store.ts';
import { limits } from '../slack/limits.ts';
import { APPROVE, DETAILS, EDIT, REJECT, WITHDRAW } from './action-ids.ts';
import {
  button,
  type Card,
  type CardOptions,
  heading,
  line,
  mention,
  mentions,
  moment,
  plain,
  preformatted,
  quoted,
  threadLine,
  words,
} from './card.ts';
import { type CardDetails, needsConfirmation } from './card-details.ts';
import { buildOutcome, signatures } from './outcome.ts';
import { type RenderedValue, renderValue } from './render-value.ts';
import { escapeMarkup, showLabel } from './show-text.ts';

/** Builds the card of an approval; pending and settled cards share the same body. */
export function buildApprovalCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const name = showLabel(details.name, limits.label - 30);
  const rendered = renderValue(details.input, {
    characters: limits.argumentCharacters,
    lines: limits.argumentLines,
  });
  const title = request.state === 'pending' ? `Approval needed: ${name}` : `${name}: ${request.state}`;
  const body = [heading(title), ...matter(request, details, rendered, options)];
  const foot =
    request.state === 'pending'
      ? pendingFoot(request, details, rendered, options)
      : buildOutcome(request, options);
  return { text: escapeMarkup(title), blocks: [...body, ...foot, ...threadLine(options)] };
}

function matter(
  request: RequestRecord,
  details: CardDetails,
  rendered: RenderedValue,
  { tool }: CardOptions,
): KnownBlock[] {
  const description = details.description ?? tool?.description ?? '';
  return [
    ...(description.trim() === ''
      ? []
      : [line(words(`The tool says of itself: ${showLabel(description, limits.description)}`))]),
    preformatted(rendered.text),
    ...(rendered.leftOut === undefined ? [] : [line(words(`${rendered.leftOut}.`, { bold: true }))]),
    ...(details.originalInput === undefined ? [] : [line(...editedLine(details))]),
    line(words('Requested by '), ...mentions(request.requesters), words(', '), moment(request.createdAt)),
    ...(details.why === undefined
      ? []
      : [quoted("The model's own words, which nobody has checked", details.why)]),
  ];
}

/** Names the person who changed the arguments; an older record does not know them. */
function editedLine({ editedBy }: CardDetails): RichTextElement[] {
  const who = editedBy === undefined ? words('a person') : mention(editedBy);
  return [words('Edited by '), who, words('. See Details for the original.')];
}

function pendingFoot(
  request: RequestRecord,
  details: CardDetails,
  rendered: RenderedValue,
  { view }: CardOptions,
): KnownBlock[] {
  const { approvals, policy } = request;
  const actions: Button[] = [
    ...(rendered.leftOut === undefined ? [approveButton(request.id, details)] : []),
    button(request.id, REJECT, 'Reject', { style: 'danger' }),
    button(request.id, EDIT, 'Edit'),
    // Nobody signs what they have not seen whole, so the way to the whole is then the first thing to do.
    rendered.leftOut === undefined
      ? button(request.id, DETAILS, 'Details')
      : button(request.id, DETAILS, 'Show all to approve', { style: 'primary' }),
    ...(view === 'thread' ? [button(request.id, WITHDRAW, 'Withdraw')] : []),
  ];
  return [
    line(words('Who may sign: '), ...mentions(request.principals)),
    line(words(`${approvals} of ${policy.quorum} signed; ${rejectionRule(policy.vetoes)}`)),
    ...signatures(request),
    ...riskLine(details),
    line(words('Expires '), moment(request.expiresAt)),
    { type: 'actions', elements: actions },
  ];
}

/** Builds the Approve button, with a confirmation if the policy or the risk requires it. */
export function approveButton(requestId: string, details: CardDetails): Button {
  const name = showLabel(details.name, limits.confirmTitle - 20);
  const confirm: ConfirmationDialog = {
    title: plain('Approve this action?'),
    text: plain(`${name} runs as soon as enough people have signed.`),
    confirm: plain('Approve'),
    deny: plain('Go back'),
  };
  return button(requestId, APPROVE, 'Approve', {
    style: 'primary',
    ...(needsConfirmation(details) && { confirm }),
  });
}

/** Shows the name of the policy, the risk, and the rule that requires approval. */
export function riskLine({ policy, rule }: CardDetails): KnownBlock[] {
  const parts = [
    ...(policy?.risk === undefined ? [] : [`Risk: ${policy.risk}`]),
    ...(policy?.name === undefined ? [] : [`Policy: ${showLabel(policy.name, limits.label)}`]),
    ...(rule === undefined ? [] : [`Rule: ${showLabel(rule, limits.label)}`]),
  ];
  return parts.length === 0 ? [] : [line(words(parts.join(' · ')))];
}

function rejectionRule(vetoes: number): string {
  return vetoes === 1 ? 'one rejection ends it.' : `${vetoes} rejections end it.`;
}
