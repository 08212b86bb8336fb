import { parseThreadId } from '../bot/slack/thread.ts';
import { type CardDetails, cardDetailsOf, stateOf, titleOf } from '../bot/views/cards/card-details.ts';
import { piecesOf } from '../bot/views/modals/details-modal.ts';
import { ruleInWords, wordOf } from '../bot/views/texts/cards.ts';
import { modalTexts } from '../bot/views/texts/modals.ts';
import { reasonTexts } from '../bot/views/texts/reasons.ts';
import { showLine, showText } from '../bot/views/texts/show-text.ts';
import { readReason } from '../engine/reasons.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import { POLICY_CHANGE_TOOL } from '../tools/toolbox/policy-change.ts';
import { idsIn } from './names.ts';
import type { Fact, ListItem, RequestView } from './protocol.ts';
import type { RequestEntry } from './request-index.ts';
import { pageTexts } from './texts.ts';

const WHOLE = Number.POSITIVE_INFINITY;

type Shown = Omit<RequestView, 'rows' | 'rules' | 'names' | 'slackLink'>;

/** The exact texts, which the words of the card stand for. */
const RAW: ReadonlySet<string> = new Set([
  modalTexts.description,
  modalTexts.arguments(true),
  modalTexts.arguments(false),
  modalTexts.original,
  modalTexts.previousBefore,
  modalTexts.previousAfter,
  modalTexts.explanation,
  modalTexts.files,
]);

/** Writes a request as the page shows it, from the stored bytes: everything that its card has, and nothing cut. */
export function viewOf(request: RequestRecord): Shown {
  const details = cardDetailsOf(request);
  const { presented } = details ?? {};
  const pieces = details === undefined ? [] : piecesOf(request, details).filter(({ text }) => text !== '');
  return {
    id: request.id,
    title: titleOf(request, WHOLE),
    state: request.state,
    word: stateOf(request).word,
    isKept: true,
    isHighRisk: details?.policy?.risk === 'high',
    requesters: request.requesters,
    channel: channelOf(request.id),
    askedAt: request.createdAt,
    ...(request.state === 'pending' && { expiresAt: request.expiresAt }),
    fields: (presented?.fields ?? []).map(({ label, text }) => ({
      label: showLine(label),
      text: showText(text),
    })),
    isComplete: request.kind !== 'approval' || presented?.isComplete === true,
    terms: termsOf(request, details),
    texts: pieces.filter(({ label }) => !RAW.has(label)),
    raw: pieces.filter(({ label }) => RAW.has(label)),
    facts: factsOf(request, details),
    votes: request.votes,
  };
}

/** Says what people decide by: who may, why they are asked, and what follows. */
function termsOf(request: RequestRecord, details: CardDetails | undefined): Fact[] {
  const { kind, state, policy } = request;
  const isOpen = kind === 'approval' && state === 'pending';
  const { groups = [], quorum } = policy;
  const why =
    details?.facets.reason?.because ?? (kind === 'approval' ? becauseOf({ rule: details?.rule }) : '');
  return [
    ...named(pageTexts.editedBy, details?.facets.edit?.by),
    ...(groups.length > 1
      ? groups.flatMap(({ any, quorum: needed }, index) =>
          named(pageTexts.group(index + 1), pageTexts.anyOf(needed, listed(any))),
        )
      : named(
          pageTexts.approvers,
          request.principals.length === 0
            ? undefined
            : pageTexts.anyOf(kind === 'approval' ? quorum : 1, listed(request.principals)),
        )),
    ...named(pageTexts.excluded, ...(policy.excluded ?? [])),
    ...named(pageTexts.runsAs, details?.facets.runsAs?.person),
    ...fact(pageTexts.runsAt, details?.facets.runsAs?.server),
    ...fact(isOpen ? pageTexts.why : pageTexts.whyAsked, why),
    ...(isOpen ? followsOf(request, details) : []),
    ...fact(pageTexts.endedWhy, whyReplaced(request)),
    ...(state === 'started' ? fact(pageTexts.progress, request.progress) : []),
    ...(state === 'succeeded' && request.attempts > 1
      ? fact(pageTexts.ran, pageTexts.afterRestarts(request.attempts - 1))
      : []),
  ];
}

/** Says what follows a rejection and an approval; a change of the rules is no call, and a caller runs its own by itself. */
function followsOf(
  { requesters, execution }: RequestRecord,
  details: CardDetails | undefined,
): readonly Fact[] {
  if (details?.name === POLICY_CHANGE_TOOL)
    return [
      ...fact(pageTexts.ifRejected, pageTexts.rulesStay),
      ...fact(pageTexts.onceApproved, pageTexts.rulesFollow),
    ];
  const readers = listed(requesters);
  const rejected = execution.elsewhere === true ? pageTexts.stops(readers) : pageTexts.readsWhy(readers);
  const isFinal = (details?.facets.undo?.reversible ?? 'no') === 'no';
  return [
    ...named(pageTexts.ifRejected, rejected),
    ...fact(pageTexts.ifApproved, isFinal ? pageTexts.cannotBeUndone : pageTexts.canBeUndone),
  ];
}

/** Lists what is kept beside the call itself. */
function factsOf(request: RequestRecord, details: CardDetails | undefined): Fact[] {
  const { policy, rule } = details ?? {};
  return [
    ...named(pageTexts.contextBy, ...request.barred),
    ...(request.kind === 'approval'
      ? fact(pageTexts.approvals, pageTexts.approvalsOf(request.approvals, request.policy.quorum))
      : []),
    ...fact(pageTexts.tool, details?.name),
    ...fact(pageTexts.policy, policy?.name),
    ...fact(pageTexts.rule, rule),
    ...fact(pageTexts.risk, policy?.risk),
    ...time(pageTexts.asked, request.createdAt),
    ...(request.state === 'pending' ? time(pageTexts.expires, request.expiresAt) : []),
    ...time(pageTexts.decided, request.decidedAt),
    ...time(pageTexts.ended, request.settledAt),
    ...named(pageTexts.endedBy, request.by),
    ...fact(pageTexts.attempts, String(request.attempts)),
    ...fact(pageTexts.digest, request.digest),
  ];
}

function fact(label: string, text: string | undefined): Fact[] {
  return text === undefined || text === '' ? [] : [{ label, text: showLine(text) }];
}

function named(label: string, ...ids: readonly (string | undefined)[]): Fact[] {
  return fact(label, listed(ids)).map((each) => ({ ...each, hasIds: true }));
}

function time(label: string, at: number | undefined): Fact[] {
  return at === undefined ? [] : [{ label, text: '', at }];
}

/** Says why a rule asks: as the manifest puts it, or its condition in words. */
export function becauseOf({
  rule,
  because,
}: {
  readonly rule?: string | undefined;
  readonly because?: string | undefined;
}): string {
  return ruleInWords({ rule, because });
}

/** Says why a request ended without a start, as its card does. */
function whyReplaced({ state, payload }: RequestRecord): string | undefined {
  const reason = state === 'superseded' ? readReason(payload) : undefined;
  return reason && reasonTexts(reason).replaced;
}

function listed(ids: readonly (string | undefined)[]): string {
  return ids.filter((id) => id !== undefined).join(', ');
}

/** Returns the channel of a request; in direct messages there is none that others know. */
function channelOf(id: string): string | undefined {
  const { channel } = parseThreadId(id);
  return channel.startsWith('C') ? channel : undefined;
}

/** Writes what the log alone says of a request that was removed. */
export function loggedViewOf(entry: RequestEntry): Shown {
  const { requesters, policy, rule, because } = entry;
  return {
    id: entry.id,
    title: showLine(entry.title),
    state: entry.state,
    word: wordOf(entry.state),
    isKept: false,
    isHighRisk: false,
    requesters,
    channel: channelOf(entry.id),
    askedAt: entry.askedAt,
    fields: [],
    isComplete: false,
    terms: policy === undefined ? [] : fact(pageTexts.whyAsked, becauseOf({ rule, because })),
    texts: [],
    raw: [],
    facts: [...fact(pageTexts.tool, entry.tool), ...fact(pageTexts.policy, policy)],
    votes: entry.votes,
  };
}

export function itemOf(entry: RequestEntry): ListItem {
  const { id, title, tool, state, requesters, askedAt, decidedAt, endedAt, votes, approvals } = entry;
  return {
    id,
    title: showLine(title),
    tool: showLine(tool),
    state,
    word: wordOf(state),
    requesters,
    channel: channelOf(id),
    votes: votes.map(({ who, decision }) => ({ who, decision })),
    approvals,
    askedAt,
    decidedAt,
    endedAt,
  };
}

/** Writes a request that waits, from the stored bytes. */
export function waitingItemOf(request: RequestRecord): ListItem {
  const { id, kind, state, requesters, createdAt, expiresAt, votes, approvals, policy } = request;
  const details = cardDetailsOf(request);
  return {
    id,
    title: titleOf(request, WHOLE),
    tool: showLine(details?.name ?? ''),
    state,
    word: stateOf(request).word,
    requesters,
    channel: channelOf(id),
    votes: votes.map(({ who, decision }) => ({ who, decision })),
    approvals: kind === 'approval' ? { given: approvals, needed: policy.quorum } : undefined,
    askedAt: createdAt,
    expiresAt,
    isHighRisk: details?.policy?.risk === 'high',
  };
}

/** Lists the ids that a view shows by name. */
export function idsOf(
  { facts, terms, requesters, channel = '', votes }: Shown,
  rules: readonly string[],
): string[] {
  const told = [...terms, ...facts].filter(({ hasIds }) => hasIds === true).map(({ text }) => text);
  const texts = [...told, ...requesters, channel, ...rules];
  const voters = votes.flatMap(({ who, standsFor }: RequestView['votes'][number]) => [who, standsFor ?? '']);
  return [...texts, ...voters].flatMap(idsIn);
}
