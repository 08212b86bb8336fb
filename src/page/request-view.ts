import { cardDetailsOf, stateOf, titleOf } from '../bot/views/cards/card-details.ts';
import { piecesOf } from '../bot/views/modals/details-modal.ts';
import { STATE_WORD } from '../bot/views/texts/cards.ts';
import { momentText } from '../bot/views/texts/format.ts';
import { showLine, showText } from '../bot/views/texts/show-text.ts';
import type { RequestRecord } from '../store/port/store.ts';
import type { Fact, ListItem, RequestView } from './protocol.ts';
import { peopleOf, type RequestEntry } from './request-index.ts';
import { pageTexts } from './texts.ts';

const WHOLE = Number.POSITIVE_INFINITY;

type Shown = Omit<RequestView, 'rows' | 'rules' | 'names' | 'slackLink'>;

/** Writes a request as the page shows it, from the stored bytes: everything that its card has, and nothing cut. */
export function viewOf(request: RequestRecord, nameOf: (id: string) => string): Shown {
  const details = cardDetailsOf(request);
  const { presented, policy, because, rule } = details ?? {};
  const people = (ids: readonly string[]) => ids.map(nameOf).join(', ');
  const fact = (label: string, text: string | undefined): Fact[] =>
    text === undefined || text === '' ? [] : [{ label, text: showLine(text) }];
  const { quorum, groups = [] } = request.policy;
  return {
    id: request.id,
    title: titleOf(request, WHOLE),
    state: request.state,
    word: stateOf(request).word,
    isKept: true,
    facts: [
      ...fact(pageTexts.requestedBy, people(request.requesters)),
      ...fact(pageTexts.contextBy, people(request.barred)),
      ...fact(pageTexts.editedBy, details?.editedBy && nameOf(details.editedBy)),
      ...fact(pageTexts.approvers, people(request.principals)),
      ...groups.flatMap((group, index) =>
        fact(pageTexts.group(index + 1), pageTexts.quorumOf(group.quorum, people(group.any))),
      ),
      ...fact(pageTexts.excluded, people(request.policy.excluded ?? [])),
      ...(request.kind === 'approval'
        ? fact(pageTexts.approvals, pageTexts.approvalsOf(request.approvals, quorum))
        : []),
      ...fact(pageTexts.tool, details?.name),
      ...fact(pageTexts.policy, policy?.name),
      ...fact(pageTexts.rule, rule),
      ...fact(pageTexts.risk, policy?.risk),
      ...fact(
        pageTexts.runsAs,
        details?.runsAs && `${nameOf(details.runsAs.person)} · ${details.runsAs.server}`,
      ),
      ...fact(pageTexts.asked, momentText(request.createdAt)),
      ...(request.state === 'pending' ? fact(pageTexts.expires, momentText(request.expiresAt)) : []),
      ...fact(pageTexts.decided, request.decidedAt === undefined ? undefined : momentText(request.decidedAt)),
      ...fact(pageTexts.ended, request.settledAt === undefined ? undefined : momentText(request.settledAt)),
      ...fact(pageTexts.endedBy, request.by && nameOf(request.by)),
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

/** Writes what the log alone says of a request that was removed. */
export function loggedViewOf(entry: RequestEntry, nameOf: (id: string) => string): Shown {
  return {
    id: entry.id,
    title: showLine(entry.title),
    state: entry.state,
    word: wordOf(entry.state),
    isKept: false,
    facts: [
      { label: pageTexts.requestedBy, text: entry.requesters.map(nameOf).join(', ') },
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

/** Lists everybody whose name a view needs. */
export function peopleIn(request: RequestRecord, entry: RequestEntry | undefined): string[] {
  const { requesters, barred, principals, policy, votes, by } = request;
  const groups = (policy.groups ?? []).flatMap(({ any }) => any);
  const voters = votes.flatMap(({ who, standsFor }) => [
    who,
    ...(standsFor === undefined ? [] : [standsFor]),
  ]);
  const { editedBy, runsAs } = cardDetailsOf(request) ?? {};
  const others = [by, editedBy, runsAs?.person].filter((id) => id !== undefined);
  const logged = entry === undefined ? [] : peopleOf(entry);
  return [
    ...requesters,
    ...barred,
    ...principals,
    ...groups,
    ...(policy.excluded ?? []),
    ...voters,
    ...others,
    ...logged,
  ];
}
