import type { Button, ConfirmationDialog, KnownBlock, RichTextElement } from '@slack/types';
import { countedApprovals } from '../../../engine/approvals.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { CALLER_ACTION_TOOL } from '../../../tools/toolbox/caller-action.ts';
import { limits } from '../../slack/limits.ts';
import { isDirectChannel, parseThreadId } from '../../slack/thread.ts';
import { undoText, whoMay } from '../facets/approver-lines.ts';
import { areWhole, facetLines, type Shown } from '../facets/facet-lines.ts';
import { cardTexts, confirmTexts, HELD_ICON, RISK } from '../texts/cards.ts';
import { moment, words } from '../texts/format.ts';
import { grantTexts } from '../texts/grants.ts';
import { escapeMarkup, showLabel } from '../texts/show-text.ts';
import {
  APPROVE,
  APPROVE_COMMENTED,
  APPROVE_GRANT,
  APPROVE_TYPED,
  DETAILS,
  EDIT,
  REJECT,
  WITHDRAW,
} from './action-ids.ts';
import { type CallBody, TITLE_LENGTH } from './call-body.ts';
import { buildBody } from './caller-body.ts';
import { button, type Card, type CardOptions, context, moreMenu, plain, threadLine } from './card.ts';
import { type CardDetails, needsConfirmation, stateOf } from './card-details.ts';
import { joinLines, layOut } from './layout.ts';
import { askedBy, buildSettled, doneTitle, isPolicyChange } from './outcome.ts';
import { choiceElements } from './own-question.ts';

/** Builds the card of an approval: all that is needed to decide while it waits, and two lines once it has ended. */
export function buildApprovalCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const { presented } = details;
  if (request.state === 'pending') {
    const title = showLabel(presented.title, TITLE_LENGTH);
    const body = buildBody(details);
    const shown = { request, details, options };
    return {
      text: escapeMarkup(cardTexts.approvalNeeded(title)),
      blocks: [
        { type: 'header', text: plain(asQuestion(title)) },
        ...pendingLines(shown, body.blocks),
        pendingActions(request, details, { isWhole: body.isWhole && areWhole(shown) }, options),
        ...threadLine(options),
      ],
    };
  }
  const written = doneTitle(request) ?? presented.title;
  const shown = stateOf(request);
  const isHeld = request.state === 'approved' && options.shown?.freeze !== undefined;
  const title = showLabel(written, TITLE_LENGTH);
  return {
    text: escapeMarkup(`${shown.word}: ${title}`),
    blocks: [
      ...buildSettled(request, { icon: isHeld ? HELD_ICON : shown.icon, title }, options),
      ...threadLine(options),
    ],
  };
}

function asQuestion(title: string): string {
  return /[?…]$/.test(title) ? title : `${title}?`;
}

/** Draws what a card that waits shows between its title and its buttons; `body` is the call itself. */
export function pendingLines(shown: Shown, body: readonly KnownBlock[]): readonly KnownBlock[] {
  const { request, details, options } = shown;
  const own = { head: [contextLine(request, details, options)], call: body };
  return layOut(joinLines([own, facetLines(shown), { last: decidedLine(options) }]));
}

/** Builds the one line that says how risky it is, what is missing and of whom, who asked where, and until when. */
export function contextLine(
  request: RequestRecord,
  details: CardDetails,
  { view }: Pick<CardOptions, 'view'>,
): KnownBlock {
  const {
    policy,
    facets: { edit },
  } = details;
  const by = [...askedBy(request, edit?.by), ...(view === 'thread' ? [] : placeOf(request))];
  // What has ended needs nothing, and does not expire any more.
  if (request.state !== 'pending' || request.kind !== 'approval') return context(...by);
  const { quorum } = request.policy;
  const counted = countedApprovals(request);
  const { risk = 'medium' } = policy ?? {};
  return context(
    words(RISK[risk]),
    words(counted === 0 ? cardTexts.needs(quorum, risk === 'medium') : cardTexts.approvals(counted, quorum)),
    ...whoMay(request, details),
    // The line below says who asks for a change of the rules.
    ...(isPolicyChange(request) ? [] : [words(' · '), ...by]),
    words(` · ${cardTexts.until}`),
    moment(request.expiresAt),
  );
}

/** Says where it was asked; in the thread itself everybody sees that. */
function placeOf({ threadId }: RequestRecord): RichTextElement[] {
  const { channel } = parseThreadId(threadId);
  if (isDirectChannel(threadId)) return [words(cardTexts.inDirectMessage)];
  if (!/^[CG][A-Z0-9]{6,20}$/.test(channel)) return [];
  return [words(cardTexts.inChannel), { type: 'channel', channel_id: channel }];
}

/** Says where approvers decide, on a card without their buttons. */
function decidedLine({ hasButtons }: CardOptions): KnownBlock[] {
  return hasButtons === false ? [context(words(cardTexts.decidedElsewhere))] : [];
}

/** Leaves who asked the way to look and to withdraw. */
export function actionsElsewhere(requestId: string): KnownBlock {
  return {
    type: 'actions',
    block_id: requestId,
    elements: [
      ...moreMenu([
        [DETAILS, cardTexts.details],
        [WITHDRAW, cardTexts.withdraw],
      ]),
    ],
  };
}

function pendingActions(
  request: RequestRecord,
  details: CardDetails,
  { isWhole }: Pick<CallBody, 'isWhole'>,
  { view, hasButtons = true }: CardOptions,
): KnownBlock {
  const { id } = request;
  if (!hasButtons) return actionsElsewhere(id);
  return {
    type: 'actions',
    block_id: id,
    elements: [
      // Nobody approves what they have not seen whole, so the way to the whole is then the first thing to do.
      ...(isWhole
        ? (choiceElements(id, details) ?? [approveButton(request, details)])
        : [button(id, DETAILS, cardTexts.reviewAll, { style: 'primary' })]),
      button(id, REJECT, cardTexts.reject),
      ...moreMenu([
        ...(isWhole && details.facets.grants !== undefined
          ? ([[APPROVE_GRANT, grantTexts.menu]] as const)
          : []),
        // The arguments of a call inside another one come from its own model; a call whose server asks has started with its own.
        // A caller runs exactly what it has shown.
        ...(details.inner === undefined && details.answer === undefined && details.name !== CALLER_ACTION_TOOL
          ? ([[EDIT, cardTexts.edit]] as const)
          : []),
        ...(isWhole && mayComment(request, details)
          ? ([[APPROVE_COMMENTED, cardTexts.comment]] as const)
          : []),
        ...(isWhole ? ([[DETAILS, cardTexts.details]] as const) : []),
        ...(view === 'thread' ? ([[WITHDRAW, cardTexts.withdraw]] as const) : []),
      ]),
    ],
  };
}

/** Tells whether approving has no dialog yet in which a comment has its place; with choices, the choice approves. */
function mayComment(request: RequestRecord, details: CardDetails): boolean {
  const isTyped = approveButton(request, details).action_id === APPROVE_TYPED;
  return !isTyped && choiceElements(request.id, details) === undefined;
}

/**
 * Builds the Approve button. A high-risk call with a target asks to type it; without a target, or where the policy wants it, a
 * confirmation names the call. Anything else takes one click.
 */
export function approveButton(request: RequestRecord, details: CardDetails): Button {
  const { id } = request;
  const { presented, policy } = details;
  const isHigh = policy?.risk === 'high';
  if (!needsConfirmation(details)) return button(id, APPROVE, cardTexts.approve, { style: 'primary' });
  if (isHigh && presented.target !== undefined) return button(id, APPROVE_TYPED, cardTexts.reviewAndApprove);
  const title = showLabel(presented.title, limits.confirmText - 60);
  const texts = isHigh
    ? { ...confirmTexts.highRisk(title, undoText(details)), confirm: approvalButtonText(request, details) }
    : confirmTexts.approve(title);
  const confirm = dialog(texts, isHigh);
  if (isHigh) return button(id, APPROVE, cardTexts.reviewAndApprove, { confirm });
  return button(id, APPROVE, cardTexts.approve, { style: 'primary', confirm });
}

/** Says on a dialog's button what the approval does: one of several, or the last one, which lets the action run. */
export function approvalButtonText(
  request: RequestRecord,
  { name, presented }: Pick<CardDetails, 'name' | 'presented'>,
): string {
  const { policy, execution, step } = request;
  // A group may be full already, a passkey approves later, and not every last approval starts the action.
  const isOpen = policy.groups !== undefined || policy.passkey === true;
  if (isOpen || execution.elsewhere === true || step?.alone === true) return cardTexts.approve;
  const number = countedApprovals(request) + 1;
  if (number < policy.quorum) return cardTexts.approveOne(number, policy.quorum);
  const [verb = ''] = presented.hasTitle ? presented.title.toLowerCase().split(' ') : [];
  // A verb that the tool's name has too is no requester's word.
  const isKnown = readableName(name).toLowerCase().split(' ').includes(verb);
  const text = cardTexts.approveAndRun(isKnown ? verb : undefined);
  return text.length <= limits.viewButton ? text : cardTexts.approveAndRun();
}

function dialog(
  texts: { readonly title: string; readonly text: string; readonly confirm: string; readonly deny: string },
  isHigh: boolean,
): ConfirmationDialog {
  return {
    title: plain(texts.title),
    text: plain(texts.text),
    confirm: plain(texts.confirm),
    deny: plain(texts.deny),
    ...(isHigh && { style: 'danger' as const }),
  };
}
