import type { Button, ConfirmationDialog, KnownBlock, RichTextElement } from '@slack/types';
import { diffLines } from 'diff';
import { approvalsByGroup, countedApprovals } from '../../../engine/approvals.ts';
import { pausedIn, unansweredIn } from '../../../engine/paused.ts';
import type { RequestRecord } from '../../../store/port/store.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts, confirmTexts, HELD_ICON, ruleInWords, STATE_ICON, STATE_WORD } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { moment, words } from '../texts/format.ts';
import { freezeTexts } from '../texts/freezes.ts';
import { grantTexts } from '../texts/grants.ts';
import { escapeMarkup, showLabel, showText } from '../texts/show-text.ts';
import { APPROVE, APPROVE_GRANT, APPROVE_TYPED, DETAILS, EDIT, REJECT, WITHDRAW } from './action-ids.ts';
import { buildCallBody, type CallBody, TITLE_LENGTH } from './call-body.ts';
import {
  button,
  type Card,
  type CardOptions,
  heading,
  line,
  mentions,
  moreMenu,
  plain,
  preformatted,
  quoted,
  threadLine,
} from './card.ts';
import { type CardDetails, needsConfirmation, stateOf } from './card-details.ts';
import { buildOutcome, isDone, votesBy } from './outcome.ts';

/** Builds the card of an approval: all that is needed to decide while it waits, and two lines once it has ended. */
export function buildApprovalCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const { presented } = details;
  const isPending = request.state === 'pending';
  const written = (isDone(request) ? presented.done : undefined) ?? presented.title;
  const isPaused = pausedIn(request) !== undefined;
  const shown = isPaused ? { icon: STATE_ICON.paused, word: STATE_WORD.paused } : stateOf(request);
  const word = unansweredIn(request) === undefined ? shown.word : cardTexts.endedWord;
  const isHeld = request.state === 'approved' && options.freeze !== undefined;
  const icon = isHeld ? HELD_ICON : shown.icon;
  const title = showLabel(written, TITLE_LENGTH);
  const text = isPending ? cardTexts.approvalNeeded(title) : `${word}: ${title}`;
  const body = isPending ? pendingBlocks(request, details, options) : buildOutcome(request, options);
  return {
    text: escapeMarkup(text),
    blocks: [heading(`${icon} ${written}`), ...body, ...threadLine(options)],
  };
}

function pendingBlocks(request: RequestRecord, details: CardDetails, options: CardOptions): KnownBlock[] {
  const body = buildCallBody(details);
  return [
    contextLine(request, details),
    ...askedForLine(options),
    ...identityLine(details),
    ...answerLines(details),
    ...undoesLine(details),
    ...freezeLine(options),
    ...quietLine(options),
    ...descriptionLine(details),
    ...body.blocks,
    ...previewBlocks(details),
    ...explanation(details, options),
    ...approvalLines(request, details),
    pendingActions(request, details, body, options),
  ];
}

/** Quotes the model beside the copies of a card; in the thread its words are the message above. On high risk nothing of it is shown. */
function explanation({ why, policy }: CardDetails, { view }: CardOptions): KnownBlock[] {
  if (why === undefined || view === 'thread' || policy?.risk === 'high') return [];
  return [quoted(cardTexts.explanation, why, { characters: limits.quoteCharacters, lines: 2 })];
}

/** Says that approvals count and nothing starts. */
function freezeLine({ freeze }: CardOptions): KnownBlock[] {
  return freeze === undefined
    ? []
    : [line(words(showLabel(freezeTexts.onCard(freeze), limits.quoteCharacters)))];
}

/** Says when approvers are notified: until then only people who look into the thread know of the request. */
function quietLine({ quietUntil, view }: CardOptions): KnownBlock[] {
  if (quietUntil === undefined || view !== 'thread') return [];
  return [line(words(cardTexts.quietHours), moment(quietUntil), words('.'))];
}

/** Builds the one line that says who asked, why people are asked, and until when. */
export function contextLine(request: RequestRecord, { policy, rule, isOverLimit }: CardDetails): KnownBlock {
  return line(
    ...(policy?.risk === 'high' ? [words(cardTexts.highRisk, { bold: true }), words(' · ')] : []),
    words(cardTexts.requestedBy),
    ...mentions(request.requesters),
    words(` · ${ruleInWords(rule, isOverLimit)}`),
    // What has ended does not expire any more.
    ...(request.state === 'pending' ? [words(` · ${cardTexts.expires}`), moment(request.expiresAt)] : []),
  );
}

/** Says for which approver the person of a direct message is asked. */
function askedForLine({ askedFor }: CardOptions): KnownBlock[] {
  return askedFor === undefined ? [] : [line(words(delegationTexts.askedFor), ...mentions([askedFor]))];
}

/** Says in whose name the call runs, if it is a person's. */
function identityLine({ runsAs }: CardDetails): KnownBlock[] {
  if (runsAs === undefined) return [];
  const server = showLabel(runsAs.server, limits.label);
  return [line(words(connectionTexts.runsAs(server)), ...mentions([runsAs.person]))];
}

/** Says who gave the answer that waits, or whether answers to the call's server will need approval. */
function answerLines({ answer, answers }: CardDetails): KnownBlock[] {
  if (answer !== undefined) return [line(words(cardTexts.answered), ...mentions(answer.by))];
  return answers === undefined ? [] : [line(words(cardTexts.answers[answers]))];
}

/** Says which action the call takes back. */
function undoesLine({ undoes }: CardDetails): KnownBlock[] {
  if (undoes === undefined || undoes.title === '') return [];
  return [line(words(cardTexts.undoes(showLabel(undoes.title, TITLE_LENGTH))))];
}

/** The description of the tool helps only where nobody has written a title. */
function descriptionLine({ presented, description = '' }: CardDetails): KnownBlock[] {
  if (presented.hasTitle || description.trim() === '') return [];
  return [line(words(cardTexts.description(showLabel(description, limits.description))))];
}

/** Builds the lines that say how many have approved, who they are, and who else can. */
export function approvalLines(request: RequestRecord, details: CardDetails): KnownBlock[] {
  const { policy } = request;
  const votes = votesBy(request, 'approve');
  const counted = cardTexts.approvals(countedApprovals(request), policy.quorum);
  return [
    line(
      words(`${counted}. ${cardTexts.rejectionRule(policy.vetoes)} `),
      words(cardTexts.approvers),
      ...mentions(approversOf(request, details), statusOf(details)),
    ),
    ...groupLines(request),
    ...(votes.length === 0 ? [] : [line(words(cardTexts.approvedBy), ...votes)]),
  ];
}

/** Adds the status that an approver has set in Slack. It decides nothing: who is away may approve all the same. */
function statusOf({ statuses }: CardDetails) {
  return (id: string): RichTextElement[] => {
    const status = statuses?.[id];
    return status === undefined ? [] : [words(cardTexts.status(showLabel(status, limits.status)))];
  };
}

/** Builds a line for each approver group: how many of it have approved, and who is in it. */
function groupLines(request: RequestRecord): KnownBlock[] {
  const filled = approvalsByGroup(request);
  return (request.policy.groups ?? []).map(({ any, quorum }, index) =>
    line(words(cardTexts.fromGroup(filled[index]?.length ?? 0, quorum)), ...mentions(any)),
  );
}

/** Lists the people who can approve: those who could when the request was made, and those it was escalated to. */
function approversOf(request: RequestRecord, { approvers }: CardDetails): string[] {
  const { principals, policy, requesters, barred } = request;
  const escalated = principals.filter((id) => !policy.principals.includes(id));
  const mayApprove = (id: string) =>
    !barred.includes(id) && (policy.selfApproval || !requesters.includes(id));
  return (approvers === undefined ? principals : [...approvers, ...escalated]).filter(mayApprove);
}

function pendingActions(
  request: RequestRecord,
  details: CardDetails,
  { isWhole }: CallBody,
  { view }: CardOptions,
): KnownBlock {
  const { id } = request;
  return {
    type: 'actions',
    block_id: id,
    elements: [
      // Nobody approves what they have not seen whole, so the way to the whole is then the first thing to do.
      isWhole ? approveButton(id, details) : button(id, DETAILS, cardTexts.reviewAll, { style: 'primary' }),
      button(id, REJECT, cardTexts.reject),
      moreMenu([
        ...(isWhole && details.policy?.grants !== undefined
          ? ([[APPROVE_GRANT, grantTexts.menu]] as const)
          : []),
        // The arguments of a call inside another one come from its own model; a call whose server asks has started with its own.
        ...(details.inner === undefined && details.answer === undefined
          ? ([[EDIT, cardTexts.edit]] as const)
          : []),
        ...(isWhole ? ([[DETAILS, cardTexts.details]] as const) : []),
        ...(view === 'thread' ? ([[WITHDRAW, cardTexts.withdraw]] as const) : []),
      ]),
    ],
  };
}

/**
 * Builds the Approve button. A high-risk call with a target asks to type it; without a target, or where the policy wants it, a
 * confirmation names the call. Anything else takes one click.
 */
export function approveButton(requestId: string, details: CardDetails): Button {
  const { presented, policy } = details;
  const isHigh = policy?.risk === 'high';
  const style = isHigh ? 'danger' : 'primary';
  if (!needsConfirmation(details)) return button(requestId, APPROVE, cardTexts.approve, { style });
  if (isHigh && presented.target !== undefined)
    return button(requestId, APPROVE_TYPED, cardTexts.approve, { style });
  const title = showLabel(presented.title, limits.confirmText - 60);
  const confirm = dialog(isHigh ? confirmTexts.highRisk(title) : confirmTexts.approve(title), isHigh);
  return button(requestId, APPROVE, cardTexts.approve, { style, confirm });
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

interface Sides {
  readonly before: string;
  readonly after: string;
}

const SIDE_LENGTH = 300;
const DIFF_LINES = 24;
const DIFF_CHARACTERS = 1_500;
/** Unchanged lines that are kept around a change. */
const CONTEXT_LINES = 2;
const MAX_DIFF_EDITS = 2_000;

/** Shows what a call would change, and what it would have changed when it was approved before. */
function previewBlocks({ presented: { preview, previousPreview } }: CardDetails): KnownBlock[] {
  const former =
    previousPreview === undefined
      ? []
      : [line(words(cardTexts.previewChanged, { bold: true })), ...sidesOf(previousPreview)];
  if (preview === undefined) return former;
  if (preview.outcome === 'failed') return [...former, line(words(cardTexts.previewFailed[preview.reason]))];
  return [...former, line(words(cardTexts.preview, { bold: true })), ...sidesOf(preview)];
}

/** Shows short texts side by side, and longer ones as a diff. */
function sidesOf({ before, after }: Sides): KnownBlock[] {
  const shown = [before, after].map((text) => showText(text));
  const isShort = shown.every((text) => text.length <= SIDE_LENGTH && text.split('\n').length <= 3);
  if (!isShort) return diffBlocks({ before, after });
  const side = (label: string, text = '') => plain(`${label}\n${text.trim() === '' ? '""' : text}`);
  return [
    {
      type: 'section',
      fields: [side(cardTexts.before, shown[0]), side(cardTexts.after, shown[1])],
    },
  ];
}

function diffBlocks({ before, after }: Sides): KnownBlock[] {
  const lines = changedLines({ before, after });
  if (lines.length === 0) return [line(words(cardTexts.noDifference))];
  const kept: string[] = [];
  let characters = 0;
  for (const text of lines) {
    characters += text.length + 1;
    if (kept.length === DIFF_LINES || characters > DIFF_CHARACTERS) break;
    kept.push(text);
  }
  const leftOut = lines.length - kept.length;
  return [
    ...(kept.length === 0 ? [] : [preformatted(kept.join('\n'))]),
    ...(leftOut === 0 ? [] : [line(words(cardTexts.diffCut(leftOut), { bold: true }))]),
  ];
}

/** Lists the changed lines with a sign each, and a few unchanged ones around them. */
function changedLines({ before, after }: Sides): string[] {
  const parts = diffLines(before, after, { maxEditLength: MAX_DIFF_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ];
  if (parts.every(({ added, removed }) => !added && !removed)) return [];
  return parts.flatMap(({ value, added, removed }, index) => {
    const lines = value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => showText(text));
    if (added) return lines.map((text) => `+ ${text}`);
    if (removed) return lines.map((text) => `- ${text}`);
    const same = lines.map((text) => `  ${text}`);
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    const most = CONTEXT_LINES * (isFirst || isLast ? 1 : 2);
    if (same.length <= most) return same;
    return [
      ...(isFirst ? [] : same.slice(0, CONTEXT_LINES)),
      '  …',
      ...(isLast ? [] : same.slice(-CONTEXT_LINES)),
    ];
  });
}
