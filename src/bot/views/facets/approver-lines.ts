import type { KnownBlock, RichTextElement } from '@slack/types';
import { approvalsByGroup, countedApprovals } from '../../../engine/approvals.ts';
import { durationInWords } from '../../../policy/limits.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { POLICY_CHANGE_TOOL } from '../../../tools/toolbox/policy-change.ts';
import { limits } from '../../slack/limits.ts';
import { callersIn, context, mentions } from '../cards/card.ts';
import type { CardDetails } from '../cards/card-details.ts';
import { votesBy, wordsOfVotes } from '../cards/outcome.ts';
import { cardTexts } from '../texts/cards.ts';
import { mention, words } from '../texts/format.ts';
import { modalTexts } from '../texts/modals.ts';
import { showLabel } from '../texts/show-text.ts';

/** Names who may still approve, beside what is missing; each group stands in a line of its own. */
export function whoMay(request: RequestRecord, details: CardDetails): RichTextElement[] {
  const { policy, votes } = request;
  if (policy.groups !== undefined) return [];
  const voted = votes.map(({ who }) => who);
  const left = approversOf(request, details).filter((id) => !voted.includes(id));
  const counted = countedApprovals(request);
  if (counted > 0)
    return [words(cardTexts.needsMore(policy.quorum - counted)), ...mentions(left, statusOf(details), OR)];
  const isOnly = left.length <= policy.quorum;
  return [
    words(isOnly ? cardTexts.of : cardTexts.anyOf(policy.quorum)),
    ...mentions(left, statusOf(details)),
  ];
}

const OR = cardTexts.or;

/** Builds the reviews so far, and of approver groups what is still needed. */
export function reviewLines(request: RequestRecord): KnownBlock[] {
  const votes = votesBy(request, 'approve');
  return [
    ...(votes.length === 0 ? [] : [context(words(cardTexts.approvedBy), ...votes)]),
    ...wordsOfVotes(request).map((elements) => context(...elements)),
    ...groupLine(request),
  ];
}

/** Says what a rejection means, for whom. */
export function rejectionText(
  { policy, requesters, execution }: RequestRecord,
  name: string,
): RichTextElement[] {
  const lead = words(cardTexts.ifRejected(policy.vetoes));
  if (name === POLICY_CHANGE_TOOL) return [lead, words(cardTexts.rulesStay)];
  const [caller] = callersIn(requesters);
  const [only, ...others] = requesters;
  const reader =
    caller !== undefined
      ? words(showLabel(caller, limits.label))
      : only !== undefined && others.length === 0
        ? mention(only)
        : words(cardTexts.whoeverAsked);
  if (execution.elsewhere === true) return [lead, reader, words(cardTexts.stops)];
  return [lead, words(cardTexts.nothingRuns), reader, words(cardTexts.readsWhy)];
}

/** Says what follows an approval: whether the call can be taken back, or, of a change of the rules, how. */
export function onceRunText(details: CardDetails): string {
  if (details.name === POLICY_CHANGE_TOOL) return cardTexts.rulesFollow;
  return modalTexts.onceRun(undoText(details));
}

/** Says whether the call can be taken back, behind the name of it. */
export function undoText({ facets: { undo } }: CardDetails): string {
  if (undo?.reversible === 'yes') return cardTexts.canAlwaysBeUndone;
  const withinMs = undo?.withinMs;
  return withinMs === undefined ? cardTexts.cannotBeUndone : cardTexts.canBeUndone(durationInWords(withinMs));
}

/** Adds the status that an approver has set in Slack. It decides nothing: who is away may approve all the same. */
function statusOf({ facets: { approvers } }: CardDetails) {
  return (id: string): RichTextElement[] => {
    const status = approvers?.statuses?.[id];
    return status === undefined ? [] : [words(cardTexts.status(showLabel(status, limits.status)))];
  };
}

/** Names what each approver group still has to give: one of its people, or several. */
function groupLine(request: RequestRecord): KnownBlock[] {
  const { votes, policy, state } = request;
  const filled = approvalsByGroup(request);
  const voted = votes.map(({ who }) => who);
  const needs = (policy.groups ?? []).flatMap(({ any, quorum }, index) => {
    const missing = quorum - (filled[index]?.length ?? 0);
    const left = any.filter((id) => !voted.includes(id));
    return missing <= 0 ? [] : [[words(cardTexts.fromGroup(missing)), ...mentions(left, undefined, OR)]];
  });
  if (needs.length === 0 || state !== 'pending') return [];
  const parts = needs.flatMap((need, index) => (index === 0 ? need : [words(cardTexts.and), ...need]));
  return [context(words(cardTexts.stillNeeded), ...parts)];
}

/** Lists the people who can approve: those who could when the request was made, and those it was escalated to. */
function approversOf(request: RequestRecord, { facets: { approvers } }: CardDetails): string[] {
  const { principals, policy, requesters, barred } = request;
  const escalated = principals.filter((id) => !policy.principals.includes(id));
  const mayApprove = (id: string) =>
    !barred.includes(id) && (policy.selfApproval || !requesters.includes(id));
  return (approvers === undefined ? principals : [...approvers.people, ...escalated]).filter(mayApprove);
}
