import type { Button, ConfirmationDialog, KnownBlock, RichTextElement } from '@slack/types';
import { diffLines } from 'diff';
import { approvalsByGroup, countedApprovals } from '../../../engine/approvals.ts';
import { pausedIn, unansweredIn } from '../../../engine/paused.ts';
import { readDetails } from '../../../engine/request-details.ts';
import { durationInWords } from '../../../policy/limits.ts';
import type { RequestRecord } from '../../../store/port/store.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { CALLER_ACTION_TOOL } from '../../../tools/toolbox/caller-action.ts';
import { limits } from '../../slack/limits.ts';
import { isDirectChannel, parseThreadId } from '../../slack/thread.ts';
import {
  cardTexts,
  confirmTexts,
  HELD_ICON,
  RISK,
  ruleInWords,
  STATE_ICON,
  STATE_WORD,
} from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { deadline, mention, moment, words } from '../texts/format.ts';
import { freezeTexts } from '../texts/freezes.ts';
import { grantTexts } from '../texts/grants.ts';
import { passkeyTexts } from '../texts/passkeys.ts';
import { cut, escapeMarkup, quoteText, showLabel, showLine, showText } from '../texts/show-text.ts';
import { APPROVE, APPROVE_GRANT, APPROVE_TYPED, DETAILS, EDIT, REJECT, WITHDRAW } from './action-ids.ts';
import { buildCallBody, type CallBody, TITLE_LENGTH } from './call-body.ts';
import {
  button,
  type Card,
  type CardOptions,
  callersIn,
  context,
  line,
  mentions,
  moreMenu,
  pairRows,
  plain,
  preformatted,
  quoted,
  threadLine,
} from './card.ts';
import { type CardDetails, needsConfirmation, stateOf } from './card-details.ts';
import { askedBy, buildSettled, isDone, votesBy } from './outcome.ts';
import { buildOwnQuestion, choiceElements, choiceLines } from './own-question.ts';

/** Builds the card of an approval: all that is needed to decide while it waits, and two lines once it has ended. */
export function buildApprovalCard(request: RequestRecord, details: CardDetails, options: CardOptions): Card {
  const { presented } = details;
  if (request.state === 'pending') {
    const title = showLabel(presented.title, TITLE_LENGTH);
    return {
      text: escapeMarkup(cardTexts.approvalNeeded(title)),
      blocks: [
        { type: 'header', text: plain(asQuestion(title)) },
        ...pendingBlocks(request, details, options),
        ...threadLine(options),
      ],
    };
  }
  const written = (isDone(request) ? presented.done : undefined) ?? presented.title;
  const isPaused = pausedIn(request) !== undefined;
  const shown = isPaused ? { icon: STATE_ICON.paused, word: STATE_WORD.paused } : stateOf(request);
  const word = unansweredIn(request) === undefined ? shown.word : cardTexts.endedWord;
  const isHeld = request.state === 'approved' && options.freeze !== undefined;
  const title = showLabel(written, TITLE_LENGTH);
  return {
    text: escapeMarkup(`${word}: ${title}`),
    blocks: [
      ...buildSettled(request, { icon: isHeld ? HELD_ICON : shown.icon, title }, options),
      ...threadLine(options),
    ],
  };
}

function asQuestion(title: string): string {
  return /[?…]$/.test(title) ? title : `${title}?`;
}

function pendingBlocks(request: RequestRecord, details: CardDetails, options: CardOptions): KnownBlock[] {
  const body = buildCallBody(details);
  const question = buildOwnQuestion(details);
  const isWhole = body.isWhole && question.isWhole;
  return [
    contextLine(request, details, options),
    ...question.blocks,
    ...choiceLines(request, details),
    ...reviewLine(options),
    ...sinceLine(options),
    ...askedForLine(options),
    ...identityLine(details),
    ...answerLines(details),
    ...undoesLine(details),
    ...firstLine(details),
    ...passkeyLine(request),
    ...freezeLine(options),
    ...quietLine(options),
    ...descriptionLine(details),
    ...body.blocks,
    ...previewBlocks(details),
    // The tool's own question says why.
    ...(question.blocks.length > 0
      ? []
      : pairRows([{ label: cardTexts.whyApproval, value: whyApproval(details) }])),
    ...explanation(request, details, options),
    ...callerLink(request, details),
    ...approvalLines(request, details),
    ...decidedLine(options),
    pendingActions(request, details, { isWhole }, options),
  ];
}

/** Says in words why people are asked. */
export function whyApproval({ because, rule, isOverLimit }: CardDetails): string {
  return showLabel(because ?? ruleInWords({ rule, isOverLimit }), limits.quoteCharacters);
}

/**
 * Quotes the model beside the copies of a card; in the thread its words are the message above. A caller has no other message. On high
 * risk nothing of either is shown.
 */
function explanation(
  { requesters }: RequestRecord,
  { why, policy }: CardDetails,
  { view }: CardOptions,
): KnownBlock[] {
  const [caller] = callersIn(requesters);
  if (why === undefined || policy?.risk === 'high' || (view === 'thread' && caller === undefined)) return [];
  const label = caller === undefined ? cardTexts.explanation : cardTexts.callerExplanation(caller);
  return [quoted(label, why, { characters: limits.quoteCharacters, lines: 2 })];
}

/** Links to the job of a caller, with the whole address to read. The manifest allows its host. */
export function callerLink({ requesters }: RequestRecord, { link }: CardDetails): KnownBlock[] {
  const [caller] = callersIn(requesters);
  if (link === undefined || caller === undefined) return [];
  return [line(words(cardTexts.callerLink(caller)), { type: 'link', url: link, text: showLine(link) })];
}

/** Says that approving takes a passkey, and if too few approvers had one when it was asked. */
export function passkeyLine({ policy, details }: Pick<RequestRecord, 'policy' | 'details'>): KnownBlock[] {
  if (policy.passkey !== true) return [];
  const keyed = readDetails({ details })?.keyed ?? policy.quorum;
  return [
    context(words(passkeyTexts.onCard)),
    ...(keyed < policy.quorum ? [context(words(passkeyTexts.fewKeys(keyed, policy.quorum)))] : []),
  ];
}

/** Says that approvals count and nothing starts. */
export function freezeLine({ freeze }: CardOptions): KnownBlock[] {
  return freeze === undefined
    ? []
    : [line(words(showLabel(freezeTexts.onCard(freeze), limits.quoteCharacters)))];
}

/** Says when approvers are notified: until then only people who look into the thread know of the request. */
export function quietLine({ quietUntil, view }: CardOptions): KnownBlock[] {
  if (quietUntil === undefined || view !== 'thread') return [];
  return [context(words(cardTexts.quietHours), moment(quietUntil), words('.'))];
}

/** Builds the one line that says how risky it is, what is missing, who asked where, and until when. */
export function contextLine(
  request: RequestRecord,
  { policy, editedBy }: CardDetails,
  { view }: Pick<CardOptions, 'view'>,
): KnownBlock {
  const by = [...askedBy(request, editedBy), ...(view === 'thread' ? [] : placeOf(request))];
  // What has ended needs nothing, and does not expire any more.
  if (request.state !== 'pending' || request.kind !== 'approval') return context(...by);
  const { quorum } = request.policy;
  const counted = countedApprovals(request);
  const { risk = 'medium' } = policy ?? {};
  return context(
    words(RISK[risk]),
    words(counted === 0 ? cardTexts.needs(quorum, risk === 'medium') : cardTexts.approvals(counted, quorum)),
    words(' · '),
    ...by,
    words(` · ${cardTexts.expires}`),
    deadline(request.expiresAt),
  );
}

/** Says where it was asked; in the thread itself everybody sees that. */
function placeOf({ threadId }: RequestRecord): RichTextElement[] {
  const { channel } = parseThreadId(threadId);
  if (isDirectChannel(threadId)) return [words(cardTexts.inDirectMessage)];
  if (!/^[CG][A-Z0-9]{6,20}$/.test(channel)) return [];
  return [words(cardTexts.inChannel), { type: 'channel', channel_id: channel }];
}

/** Says who has opened Details lately, so that two people do not read the same by accident. */
export function reviewLine({ review }: CardOptions): KnownBlock[] {
  return review === undefined ? [] : [context(words(cardTexts.reviewedBy), mention(review))];
}

const SINCE_CHARACTERS = 200;

/** Quotes what a requester has written since the request was made; a channel that is only told of it does not read the thread. */
export function sinceLine({ since, view }: CardOptions): KnownBlock[] {
  if (since === undefined || view === 'announcement') return [];
  const text = quoteText(cut(since.text.replaceAll(/\s+/g, ' ').trim(), SINCE_CHARACTERS));
  return [
    line(
      words('💬 '),
      mention(since.who),
      words(cardTexts.wroteSince),
      words(`${text}${cardTexts.wroteBefore(since.before)}`),
    ),
  ];
}

/** Says for which approver the person of a direct message is asked. */
export function askedForLine({ askedFor }: CardOptions): KnownBlock[] {
  return askedFor === undefined ? [] : [context(words(delegationTexts.askedFor), ...mentions([askedFor]))];
}

/** Says in whose name the call runs, if it is a person's. */
export function identityLine({ runsAs }: Pick<CardDetails, 'runsAs'>): KnownBlock[] {
  if (runsAs === undefined) return [];
  const server = showLabel(runsAs.server, limits.label);
  return [context(words(connectionTexts.runsAs(server)), ...mentions([runsAs.person]))];
}

/** Says who gave the answer that waits, or whether answers to the call's server will need approval. */
export function answerLines({ answer, answers }: Pick<CardDetails, 'answer' | 'answers'>): KnownBlock[] {
  if (answer !== undefined) return [context(words(cardTexts.answered), ...mentions(answer.by))];
  return answers === undefined ? [] : [context(words(cardTexts.answers[answers]))];
}

/** Says which action the call takes back. */
function undoesLine({ undoes }: CardDetails): KnownBlock[] {
  if (undoes === undefined || undoes.title === '') return [];
  return [line(words(cardTexts.undoes(showLabel(undoes.title, TITLE_LENGTH))))];
}

/** Says for whom, or for what, the call is a first one on record. */
export function firstLine({ presented: { first } }: Pick<CardDetails, 'presented'>): KnownBlock[] {
  if (first === undefined) return [];
  const act = showLabel(first.act, limits.label);
  const target = cardTexts.thisTarget(showLabel(first.of ?? cardTexts.target, limits.label));
  const parts = [
    ...(first.isTarget === true ? [[words(cardTexts.firstFor(act, target))]] : []),
    ...(first.byTool.length > 0 ? [[words(cardTexts.firstBy(act)), ...mentions(first.byTool)]] : []),
    ...(first.byPair.length > 0 && first.byTool.length === 0
      ? [[words(cardTexts.firstBy(`${act} ${target}`)), ...mentions(first.byPair)]]
      : []),
  ];
  const told = parts.flatMap((part, index) => (index === 0 ? part : [words(' · '), ...part]));
  return [context(words('🆕 '), ...told, words(cardTexts.onRecord(first.days)))];
}

/** The description of the tool helps only where nobody has written a title. */
function descriptionLine({ presented, description = '' }: CardDetails): KnownBlock[] {
  if (presented.hasTitle || description.trim() === '') return [];
  return [line(words(cardTexts.description(showLabel(description, limits.description))))];
}

/** Builds the lines that say who can approve and who has, what a rejection means, and whether the action can be undone. */
export function approvalLines(request: RequestRecord, details: CardDetails): KnownBlock[] {
  const { policy } = request;
  const votes = votesBy(request, 'approve');
  const missing = policy.quorum - countedApprovals(request);
  const voted = request.votes.map(({ who }) => who);
  const left = approversOf(request, details).filter((id) => !voted.includes(id));
  const others = mentions(left, statusOf(details), cardTexts.or);
  return [
    ...groupLines(request),
    context(
      ...(votes.length === 0
        ? [words(cardTexts.approvers)]
        : [words(cardTexts.approvedBy), ...votes, words(cardTexts.needsMore(missing))]),
      ...others,
      ...(request.state === 'pending'
        ? [words(cardTexts.rejectionRule(policy.vetoes)), words(` ·${undoText(details)}`)]
        : []),
    ),
  ];
}

/** Says whether the call can be taken back, behind the name of it. */
function undoText({ undoMs, reversible }: CardDetails): string {
  if (reversible === 'yes') return cardTexts.canAlwaysBeUndone;
  return undoMs === undefined ? cardTexts.cannotBeUndone : cardTexts.canBeUndone(durationInWords(undoMs));
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
    context(words(cardTexts.fromGroup(filled[index]?.length ?? 0, quorum)), ...mentions(any)),
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

/** Says where approvers decide, on a card without their buttons. */
export function decidedLine({ hasButtons }: CardOptions): KnownBlock[] {
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
        ? (choiceElements(id, details) ?? [approveButton(id, details)])
        : [button(id, DETAILS, cardTexts.reviewAll, { style: 'primary' })]),
      button(id, REJECT, cardTexts.reject),
      ...moreMenu([
        ...(isWhole && details.policy?.grants !== undefined
          ? ([[APPROVE_GRANT, grantTexts.menu]] as const)
          : []),
        // The arguments of a call inside another one come from its own model; a call whose server asks has started with its own.
        // A caller runs exactly what it has shown.
        ...(details.inner === undefined && details.answer === undefined && details.name !== CALLER_ACTION_TOOL
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
  if (!needsConfirmation(details)) return button(requestId, APPROVE, cardTexts.approve, { style: 'primary' });
  if (isHigh && presented.target !== undefined)
    return button(requestId, APPROVE_TYPED, cardTexts.reviewAndApprove);
  const title = showLabel(presented.title, limits.confirmText - 60);
  const texts = isHigh
    ? { ...confirmTexts.highRisk(title, undoText(details)), confirm: actOf(details) }
    : confirmTexts.approve(title);
  const confirm = dialog(texts, isHigh);
  if (isHigh) return button(requestId, APPROVE, cardTexts.reviewAndApprove, { confirm });
  return button(requestId, APPROVE, cardTexts.approve, { style: 'primary', confirm });
}

/** Names the act for the button that lets it run, if there is room. */
export function actOf({ name }: CardDetails): string {
  const act = showLabel(readableName(name), limits.label);
  return act.length <= limits.viewButton ? act : cardTexts.approve;
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
export function previewBlocks({
  presented: { preview, previousPreview },
}: Pick<CardDetails, 'presented'>): KnownBlock[] {
  const former =
    previousPreview === undefined
      ? []
      : [line(words(cardTexts.previewChanged, { bold: true })), ...sidesOf(previousPreview)];
  if (preview === undefined) return former;
  if (preview.outcome === 'failed')
    return [...former, context(words(cardTexts.previewFailed[preview.reason]))];
  return [...former, ...sidesOf(preview)];
}

/** Tells whether a card shows all of what a call would change. */
export function isWholePreview({
  presented: { preview, previousPreview },
}: Pick<CardDetails, 'presented'>): boolean {
  return [preview, previousPreview].every(
    (sides) =>
      sides === undefined ||
      !('before' in sides) ||
      shownSides(sides).isShort ||
      keptLines(changedLines(sides)).leftOut === 0,
  );
}

function shownSides({ before, after }: Sides) {
  const shown = [before, after].map((text) => showText(text));
  return {
    shown,
    isShort: shown.every((text) => text.length <= SIDE_LENGTH && text.split('\n').length <= 3),
  };
}

/** Shows short texts side by side, and longer ones as a diff. */
function sidesOf({ before, after }: Sides): KnownBlock[] {
  const { shown, isShort } = shownSides({ before, after });
  if (!isShort) return [line(words(cardTexts.preview, { bold: true })), ...diffBlocks({ before, after })];
  const side = (label: string, text = '') => ({ label, value: text.trim() === '' ? '""' : text });
  return pairRows([side(cardTexts.before, shown[0]), side(cardTexts.after, shown[1])]);
}

function diffBlocks({ before, after }: Sides): KnownBlock[] {
  const lines = changedLines({ before, after });
  if (lines.length === 0) return [line(words(cardTexts.noDifference))];
  const { kept, leftOut } = keptLines(lines);
  return [
    ...(kept.length === 0 ? [] : [preformatted(kept.join('\n'))]),
    ...(leftOut === 0 ? [] : [line(words(cardTexts.diffCut(leftOut), { bold: true }))]),
  ];
}

/** Keeps the first lines, as far as there is room. */
function keptLines(lines: readonly string[]): { readonly kept: readonly string[]; readonly leftOut: number } {
  const kept: string[] = [];
  let characters = 0;
  for (const text of lines) {
    characters += text.length + 1;
    if (kept.length === DIFF_LINES || characters > DIFF_CHARACTERS) break;
    kept.push(text);
  }
  return { kept, leftOut: lines.length - kept.length };
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
