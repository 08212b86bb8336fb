import type { Button, HomeView, KnownBlock, RichTextElement } from '@slack/types';
import { countedApprovals } from '../../../engine/approvals.ts';
import type { ListPage } from '../../../engine/asks/load-lists.ts';
import { readDetails } from '../../../engine/request-details.ts';
import type { Delegation } from '../../../store/documents/delegations.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Freeze, GrantRecord } from '../../../store/port/workspace.ts';
import { limits } from '../../slack/limits.ts';
import { parseThreadId } from '../../slack/thread.ts';
import { approveButton } from '../cards/approval-card.ts';
import { buildBody } from '../cards/caller-body.ts';
import { context, line, plain, requesterNames } from '../cards/card.ts';
import {
  type CardDetails,
  cardDetailsOf,
  needsConfirmation,
  placeText,
  stateOf,
  titleOf,
} from '../cards/card-details.ts';
import { doneTitle, endLine } from '../cards/outcome.ts';
import { whyApproval } from '../facets/facet-lines.ts';
import { cardTexts, HIGH_RISK_ICON } from '../texts/cards.ts';
import { withCode, words } from '../texts/format.ts';
import { type DecisionStats, homeTexts } from '../texts/home.ts';
import { showLabel } from '../texts/show-text.ts';
import {
  type Account,
  buildAccounts,
  buildDelegations,
  buildFreezes,
  buildGrants,
  buildToolProblems,
} from './sections.ts';

export const HOME_PAGE = 'home-page';
export const HOME_OPEN = 'home-open';
export const HOME_REFRESH = 'home-refresh';

export interface HomeExtras {
  /** The moment of which it is. */
  readonly asOf: number;
  /** Only for admins. */
  readonly stats?: readonly DecisionStats[] | undefined;
  /** The problems of tools, for admins. */
  readonly toolProblems?: readonly string[];
  readonly freezes?: readonly Freeze[];
  /** The servers at which the person can connect an account. */
  readonly accounts?: readonly Account[];
  /** The grants that the person may revoke. */
  readonly grants?: readonly GrantRecord[];
  /** The delegations that the person may end. */
  readonly delegations?: { readonly reader: string; readonly list: readonly Delegation[] };
  readonly unfreeze?: { readonly quorum: number; readonly isOffered: boolean };
}

/** Builds App Home: of which moment it is, what is frozen, for admins which tools are missing, a page of each of the three lists, the connected accounts, and for admins the decisions of each policy. */
export function buildHome(
  lists: readonly ListPage[],
  {
    asOf,
    stats,
    grants = [],
    delegations = { reader: '', list: [] },
    accounts = [],
    freezes = [],
    toolProblems = [],
    unfreeze = { quorum: 1, isOffered: false },
  }: HomeExtras,
): HomeView {
  const blocks: KnownBlock[] = [
    {
      type: 'section',
      text: { type: 'mrkdwn', text: homeTexts.asOf(asOf) },
      accessory: button(HOME_REFRESH, homeTexts.refresh, ''),
    },
    ...buildFreezes(freezes, unfreeze),
    ...buildToolProblems(toolProblems),
    ...(lists.every(({ requests }) => requests.length === 0) ? [line(...withCode(homeTexts.welcome))] : []),
    ...lists.flatMap((list) => buildList(list, asOf)),
    ...buildAccounts(accounts),
    ...(stats === undefined ? [] : buildStats(stats)),
  ];
  const room = () => limits.viewBlocks - blocks.length;
  blocks.push(...buildDelegations(delegations.list, delegations.reader, Math.min(room(), DELEGATION_BLOCKS)));
  blocks.push(...buildGrants(grants, room()));
  return { type: 'home', blocks };
}

/** Three delegations and their title; `/countersign delegations` lists all. */
const DELEGATION_BLOCKS = 8;
const MAX_STATS = 15;

function buildStats(stats: readonly DecisionStats[]): KnownBlock[] {
  const lines = stats.slice(0, MAX_STATS).map((each) => ({
    type: 'rich_text_section' as const,
    elements: [
      words(showLabel(homeTexts.statsName(each), limits.label), { bold: true }),
      words(`: ${homeTexts.statsLine(each)}`),
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

/** Builds one list with its page buttons. */
export function buildList(list: ListPage, now: number): KnownBlock[] {
  const { name, total = '0' } = list;
  const title = homeTexts.titles[name];
  const rows = list.requests.flatMap((request) =>
    name === 'waiting' ? buildWaiting(request, now) : buildRow(request),
  );
  return [
    { type: 'header', text: plain(total === '0' ? title : `${title} (${total})`) },
    ...(name === 'waiting' && list.requests.some(isToApprove) ? [line(words(homeTexts.ifRejected))] : []),
    ...(rows.length === 0 ? [line(words(homeTexts.empty[name]))] : rows),
    ...pager(list),
  ];
}

function isToApprove({ kind, state }: RequestRecord): boolean {
  return kind === 'approval' && state === 'pending';
}

/** Builds the title of a request in a list, with the button that opens its Details. */
export function titleWithView(request: RequestRecord, title: string): KnownBlock {
  const isHigh = isToApprove(request) && readDetails(request)?.policy?.risk === 'high';
  const icon = isHigh ? HIGH_RISK_ICON : stateOf(request).icon;
  // What another system has yet to report has not happened.
  const isAwaited = request.kind === 'callback' && request.state === 'pending';
  const word = request.settledAt === undefined ? homeTexts.view.pending : homeTexts.view.settled;
  return {
    type: 'section',
    text: plain(`${icon} ${isAwaited ? homeTexts.awaited(title) : title}`),
    accessory: {
      type: 'button',
      action_id: HOME_OPEN,
      value: request.id,
      text: plain(word),
      accessibility_label: showLabel(homeTexts.viewTitle(word, title), limits.accessibilityLabel),
    },
  };
}

/** Builds what waits for a person: how urgent it is, who asked where, until when, and Approve where one click on this row is enough. */
function buildWaiting(request: RequestRecord, now: number): KnownBlock[] {
  const title = titleOf(request, limits.description);
  const details = cardDetailsOf(request);
  const { channel } = parseThreadId(request.threadId);
  const number = placeText(request);
  const isUnknown = request.state === 'unknown';
  const facts: RichTextElement[][] = [
    ...(isUnknown ? [[words(stateOf(request).word, { bold: true })]] : []),
    ...(details?.policy?.risk === 'high' ? [[words(homeTexts.highRisk, { bold: true })]] : []),
    requesterNames(request.requesters),
    [
      /^[CG][A-Z0-9]+$/.test(channel)
        ? { type: 'channel', channel_id: channel }
        : words(homeTexts.directMessage),
    ],
    ...(isUnknown ? [] : [[words(homeTexts.expiresIn(request.expiresAt - now))]]),
    ...(details !== undefined && isToApprove(request) ? [[words(homeTexts.why(whyApproval(details)))]] : []),
    ...(request.kind === 'approval' && request.policy.quorum > 1 && !isUnknown
      ? [[words(cardTexts.approvals(countedApprovals(request), request.policy.quorum))]]
      : []),
    ...(number === undefined ? [] : [[words(number)]]),
  ];
  return [
    titleWithView(request, title),
    context(...facts.flatMap((fact, index) => (index === 0 ? fact : [words(' · '), ...fact]))),
    ...(details === undefined ? [] : approvableHere(request, details)),
  ];
}

/** The most that a row shows of a call: more has to be looked at in Details before it is approved. */
const ROW_BLOCKS = 2;
const ROW_CHARACTERS = 600;

/** Shows what would run, with Approve, if the card has Approve for one click and the row has room for all that the card shows of the call. */
function approvableHere(request: RequestRecord, details: CardDetails): KnownBlock[] {
  if (!isToApprove(request) || needsConfirmation(details) || details.facets.plan !== undefined) return [];
  const { blocks, isWhole } = buildBody(details);
  const { title } = details.presented;
  const { preview, undoes, runsAs } = details.facets;
  const isSimple = [preview, undoes, details.answer, runsAs].every((each) => each === undefined);
  const isShort = blocks.length <= ROW_BLOCKS && JSON.stringify(blocks).length <= ROW_CHARACTERS;
  if (!isWhole || !isSimple || !isShort || title.length > limits.description) return [];
  const approve = {
    ...approveButton(request, details),
    accessibility_label: showLabel(homeTexts.approveTitle(title), limits.accessibilityLabel),
  };
  return [...blocks, { type: 'actions', elements: [approve] }];
}

function buildRow(request: RequestRecord): KnownBlock[] {
  const title = doneTitle(request) ?? titleOf(request, limits.description);
  const { requesters, settledAt, kind, policy } = request;
  const isOpen = settledAt === undefined && kind === 'approval';
  const approvals = isOpen
    ? [words(` · ${cardTexts.approvals(countedApprovals(request), policy.quorum)}`)]
    : [];
  const asked = [words(` · ${cardTexts.askedBy}`), ...requesterNames(requesters)];
  return [
    titleWithView(request, showLabel(title, limits.description)),
    context(...endLine(request), ...asked, ...approvals),
  ];
}

function pager({ name, next, isFirst }: ListPage): KnownBlock[] {
  const buttons: Button[] = [
    ...(isFirst ? [] : [button(`${HOME_PAGE}:${name}:first`, homeTexts.first, '')]),
    ...(next === undefined ? [] : [button(`${HOME_PAGE}:${name}:next`, homeTexts.more, next)]),
  ];
  return buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }];
}

function button(action_id: string, text: string, from: string): Button {
  return { type: 'button', action_id, text: plain(text), ...(from !== '' && { value: from }) };
}
