import { parseThreadId } from '../bot/slack/thread.ts';
import { cardDetailsOf, stateOf, titleOf } from '../bot/views/cards/card-details.ts';
import { piecesOf } from '../bot/views/modals/details-modal.ts';
import { STATE_WORD } from '../bot/views/texts/cards.ts';
import { momentText } from '../bot/views/texts/format.ts';
import { reasonTexts } from '../bot/views/texts/reasons.ts';
import { showLine, showText } from '../bot/views/texts/show-text.ts';
import { readReason } from '../engine/reasons.ts';
import type { RequestRecord } from '../store/port/store.ts';
import { idsIn } from './names.ts';
import type { Fact, ListItem, RequestView } from './protocol.ts';
import type { RequestEntry } from './request-index.ts';
import { pageTexts } from './texts.ts';

const WHOLE = Number.POSITIVE_INFINITY;

type Shown = Omit<RequestView, 'rows' | 'rules' | 'names' | 'slackLink'>;

/** Writes a request as the page shows it, from the stored bytes: everything that its card has, and nothing cut. */
export function viewOf(request: RequestRecord): Shown {
  const details = cardDetailsOf(request);
  const { presented, policy, because, rule } = details ?? {};
  const fact = (label: string, text: string | undefined): Fact[] =>
    text === undefined || text === '' ? [] : [{ label, text: showLine(text) }];
  const named = (label: string, ...ids: readonly (string | undefined)[]): Fact[] =>
    fact(label, listed(ids)).map((each) => ({ ...each, hasIds: true }));
  const { quorum, groups = [] } = request.policy;
  return {
    id: request.id,
    title: titleOf(request, WHOLE),
    state: request.state,
    word: stateOf(request).word,
    isKept: true,
    facts: [
      ...named(pageTexts.requestedBy, ...request.requesters),
      ...named(pageTexts.channel, channelOf(request.id)),
      ...named(pageTexts.contextBy, ...request.barred),
      ...named(pageTexts.editedBy, details?.editedBy),
      ...named(pageTexts.approvers, ...request.principals),
      ...groups.flatMap((group, index) =>
        named(pageTexts.group(index + 1), pageTexts.quorumOf(group.quorum, listed(group.any))),
      ),
      ...named(pageTexts.excluded, ...(request.policy.excluded ?? [])),
      ...(request.kind === 'approval'
        ? fact(pageTexts.approvals, pageTexts.approvalsOf(request.approvals, quorum))
        : []),
      ...fact(pageTexts.tool, details?.name),
      ...fact(pageTexts.policy, policy?.name),
      ...fact(pageTexts.rule, rule),
      ...fact(pageTexts.risk, policy?.risk),
      ...named(pageTexts.runsAs, details?.runsAs?.person),
      ...fact(pageTexts.runsAt, details?.runsAs?.server),
      ...fact(pageTexts.asked, momentText(request.createdAt)),
      ...(request.state === 'pending' ? fact(pageTexts.expires, momentText(request.expiresAt)) : []),
      ...fact(pageTexts.decided, request.decidedAt === undefined ? undefined : momentText(request.decidedAt)),
      ...fact(pageTexts.ended, request.settledAt === undefined ? undefined : momentText(request.settledAt)),
      ...named(pageTexts.endedBy, request.by),
      ...fact(pageTexts.endedWhy, whyReplaced(request)),
      ...fact(pageTexts.attempts, String(request.attempts)),
      ...fact(pageTexts.progress, request.progress),
      ...fact(pageTexts.digest, request.digest),
    ],
    fields: (presented?.fields ?? []).map(({ label, text }) => ({
      label: showLine(label),
      text: showText(text),
    })),
    texts: details === undefined ? [] : piecesOf(request, details).filter(({ text }) => text !== ''),
    votes: request.votes,
    because,
  };
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
  const channel = channelOf(entry.id);
  return {
    id: entry.id,
    title: showLine(entry.title),
    state: entry.state,
    word: wordOf(entry.state),
    isKept: false,
    facts: [
      { label: pageTexts.requestedBy, text: showLine(listed(entry.requesters)), hasIds: true },
      ...(channel === undefined
        ? []
        : [{ label: pageTexts.channel, text: showLine(channel), hasIds: true } as const]),
      { label: pageTexts.tool, text: showLine(entry.tool) },
      ...(entry.policy === undefined ? [] : [{ label: pageTexts.policy, text: showLine(entry.policy) }]),
      { label: pageTexts.asked, text: momentText(entry.askedAt) },
    ],
    fields: [],
    texts: [],
    votes: entry.votes,
  };
}

export function itemOf(entry: RequestEntry): ListItem {
  const { id, title, tool, state, requesters, askedAt, decidedAt, votes } = entry;
  return {
    ...{ id, tool: showLine(tool), state, word: wordOf(state), requesters, askedAt, decidedAt },
    title: showLine(title),
    deciders: [...new Set(votes.map(({ who }) => who))],
  };
}

/** Writes a request that waits, from the stored bytes. */
export function waitingItemOf(request: RequestRecord): ListItem {
  const { id, state, requesters, createdAt, expiresAt, votes } = request;
  const details = cardDetailsOf(request);
  return {
    ...{ id, state, requesters, expiresAt, askedAt: createdAt },
    title: titleOf(request, WHOLE),
    word: stateOf(request).word,
    tool: showLine(details?.name ?? ''),
    deciders: votes.map(({ who }) => who),
    isHighRisk: details?.policy?.risk === 'high',
  };
}

/** Returns the word for a state, as cards have it. */
export function wordOf(state: string): string {
  return Object.entries(STATE_WORD).find(([name]) => name === state)?.[1] ?? state;
}

/** Lists the ids that a view shows by name. */
export function idsOf({ facts, votes, because = '' }: Shown, rules: readonly string[]): string[] {
  const texts = [...facts.filter(({ hasIds }) => hasIds === true).map(({ text }) => text), because, ...rules];
  const voters = votes.flatMap(({ who, standsFor }: RequestView['votes'][number]) => [who, standsFor ?? '']);
  return [...texts, ...voters].flatMap(idsIn);
}
