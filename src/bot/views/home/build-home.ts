import type { Button, HomeView, KnownBlock } from '@slack/types';
import { countedApprovals } from '../../../engine/approvals.ts';
import type { Delegation } from '../../../store/documents/delegations.ts';
import type { KeptNote } from '../../../store/documents/memory.ts';
import type { Freeze, GrantRecord, RequestRecord } from '../../../store/port/store.ts';
import { limits } from '../../slack/limits.ts';
import { line, mentions, plain } from '../cards/card.ts';
import { stateOf, titleOf } from '../cards/card-details.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { homeTexts, type ListName, memoryTexts, type PolicyStats } from '../texts/home.ts';
import { showLabel } from '../texts/show-text.ts';
import {
  type Account,
  buildAccounts,
  buildDelegations,
  buildFreezes,
  buildGrants,
  buildNotes,
} from './sections.ts';

export const HOME_PAGE = 'home-page';
export const HOME_OPEN = 'home-open';

/** A page of a list of requests. */
export interface ListPage {
  readonly name: ListName;
  readonly requests: readonly RequestRecord[];
  /** The start of the next page, if there is one. */
  readonly next: string | undefined;
  /** Whether this is the first page. */
  readonly isFirst: boolean;
}

export interface HomeExtras {
  /** Only for admins. */
  readonly stats?: readonly PolicyStats[] | undefined;
  readonly freezes?: readonly Freeze[];
  /** The servers at which the person can connect an account. */
  readonly accounts?: readonly Account[];
  /** The grants that the person may revoke. */
  readonly grants?: readonly GrantRecord[];
  /** The delegations that the person may end. */
  readonly delegations?: { readonly reader: string; readonly list: readonly Delegation[] };
  /** The notes of the agent that the person may see. */
  readonly notes?: readonly KeptNote[] | undefined;
  readonly unfreeze?: { readonly quorum: number; readonly isOffered: boolean };
}

/** Builds App Home: what is frozen, a page of each of the three lists, the connected accounts, and for admins the decisions of each policy. */
export function buildHome(
  lists: readonly ListPage[],
  {
    stats,
    notes,
    grants = [],
    delegations = { reader: '', list: [] },
    accounts = [],
    freezes = [],
    unfreeze = { quorum: 1, isOffered: false },
  }: HomeExtras = {},
): HomeView {
  const blocks = [
    ...buildFreezes(freezes, unfreeze),
    ...lists.flatMap(buildList),
    ...buildAccounts(accounts),
    ...(stats === undefined ? [] : buildStats(stats)),
  ];
  const room = () => limits.viewBlocks - blocks.length;
  blocks.push(...buildDelegations(delegations.list, delegations.reader, Math.min(room(), DELEGATION_BLOCKS)));
  blocks.push(...buildGrants(grants, room()));
  // The lists come first; the notes have the room that they leave.
  const left = room() - 2;
  const kept =
    notes === undefined || left < 1
      ? []
      : buildNotes(notes, memoryTexts.title, { most: left, withChannel: true });
  return { type: 'home', blocks: [...blocks, ...kept] };
}

/** Three delegations and their title; `/countersign delegations` lists all. */
const DELEGATION_BLOCKS = 8;
const MAX_POLICIES = 15;

function buildStats(stats: readonly PolicyStats[]): KnownBlock[] {
  const lines = stats.slice(0, MAX_POLICIES).map((policy) => ({
    type: 'rich_text_section' as const,
    elements: [
      words(showLabel(policy.policy, limits.label), { bold: true }),
      words(`: ${homeTexts.statsLine(policy)}`),
    ],
  }));
  // One block for all of them: a full Home has almost as many blocks as Slack takes.
  const list: KnownBlock = {
    type: 'rich_text',
    elements: [{ type: 'rich_text_list', style: 'bullet', elements: lines }],
  };
  return [
    { type: 'header', text: plain(homeTexts.statsTitle) },
    lines.length === 0 ? line(words(homeTexts.noStats)) : list,
  ];
}

/** Builds one list with its page buttons. A row shows the title, the requesters and the state. */
export function buildList(list: ListPage): KnownBlock[] {
  const rows = list.requests.flatMap((request, index) => [
    ...(index === 0 ? [] : [{ type: 'divider' as const }]),
    ...buildRow(request),
  ]);
  const empty = [line(words(homeTexts.empty[list.name]))];
  return [
    { type: 'header', text: plain(homeTexts.titles[list.name]) },
    ...(rows.length === 0 ? empty : rows),
    ...pager(list),
  ];
}

/** Builds the title of a request in a list, with the button that opens its Details. */
export function titleWithView(request: RequestRecord, title: string): KnownBlock {
  return {
    type: 'section',
    text: plain(`${stateOf(request).icon} ${title}`),
    accessory: {
      type: 'button',
      action_id: HOME_OPEN,
      value: request.id,
      text: plain(homeTexts.view),
      accessibility_label: showLabel(homeTexts.viewTitle(title), limits.accessibilityLabel),
    },
  };
}

function buildRow(request: RequestRecord): KnownBlock[] {
  const title = titleOf(request, limits.description);
  const { word } = stateOf(request);
  const approvals =
    request.kind === 'approval'
      ? [cardTexts.approvals(countedApprovals(request), request.policy.quorum)]
      : [];
  return [
    titleWithView(request, title),
    line(
      words(`${word} · ${cardTexts.requestedBy}`),
      ...mentions(request.requesters),
      ...approvals.map((text) => words(` · ${text}`)),
    ),
  ];
}

function pager({ name, next, isFirst }: ListPage): KnownBlock[] {
  const buttons: Button[] = [
    ...(isFirst ? [] : [button(`${HOME_PAGE}:${name}:first`, homeTexts.newest, '')]),
    ...(next === undefined ? [] : [button(`${HOME_PAGE}:${name}:next`, homeTexts.older, next)]),
  ];
  return buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }];
}

function button(action_id: string, text: string, from: string): Button {
  return { type: 'button', action_id, text: plain(text), ...(from !== '' && { value: from }) };
}
