import type { KnownBlock } from '@slack/types';
import { grantDetailsOf } from '../../../engine/grant-evidence.ts';
import type { Delegation } from '../../../store/documents/delegations.ts';
import type { Freeze, GrantRecord } from '../../../store/port/workspace.ts';
import type { RequesterServer } from '../../../tools/mcp/auth/connections.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { limits } from '../../slack/limits.ts';
import { END_DELEGATION, REVOKE, UNFREEZE } from '../cards/action-ids.ts';
import { line, mentions, plain } from '../cards/card.ts';
import { connectionTexts } from '../texts/connections.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { mention, moment, words } from '../texts/format.ts';
import { freezeTexts, scopeInWords } from '../texts/freezes.ts';
import { grantTexts } from '../texts/grants.ts';
import { homeTexts } from '../texts/home.ts';
import { showLabel } from '../texts/show-text.ts';

/** A full Home has almost as many blocks as Slack takes. */
const MAX_FREEZES = 2;

/** Builds the list of freezes, the oldest first, with a button for those who may end them. */
export function buildFreezes(
  freezes: readonly Freeze[],
  { quorum, isOffered }: { readonly quorum: number; readonly isOffered: boolean },
): KnownBlock[] {
  if (freezes.length === 0) return [];
  const { home, card } = freezeTexts;
  const others = freezes.length - MAX_FREEZES;
  const rows = freezes.slice(0, MAX_FREEZES).flatMap((freeze, index): KnownBlock[] => {
    const what = `${scopeInWords(freeze.scope)}${freeze.reason === '' ? '' : `: ${freeze.reason}`}`;
    const button = {
      type: 'button' as const,
      action_id: UNFREEZE,
      text: plain(card.button),
      value: `${freeze.id} ${freeze.scope}`,
    };
    return [
      {
        type: 'section',
        block_id: `freeze-${index}`,
        text: plain(showLabel(what.charAt(0).toUpperCase() + what.slice(1), limits.description)),
        ...(isOffered && { accessory: button }),
      },
      line(
        words(home.by),
        mention(freeze.who),
        words(home.since),
        moment(freeze.at),
        ...(quorum === 1 ? [] : [words(home.votes(freeze.votes.length, quorum))]),
        ...(index < MAX_FREEZES - 1 || others <= 0 ? [] : [words(home.others(others))]),
      ),
    ];
  });
  return [{ type: 'header', text: plain(home.title) }, ...rows];
}

const MAX_PROBLEMS = 5;

/** Builds the list of what is wrong with tools, which the log and "countersign doctor" have in full. */
export function buildToolProblems(problems: readonly string[]): KnownBlock[] {
  if (problems.length === 0) return [];
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => showLabel(problem, limits.description));
  const left = problems.length - shown.length;
  const lines = [...shown, left > 0 ? homeTexts.moreProblems(left) : homeTexts.seeDoctor];
  return [
    { type: 'header', text: plain(homeTexts.problemsTitle(problems.length)) },
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_list',
          style: 'bullet',
          elements: lines.map((text) => ({ type: 'rich_text_section', elements: [words(text)] })),
        },
      ],
    },
  ];
}

/** Builds the list of delegations with a button to end each, in so many blocks at most. */
export function buildDelegations(
  delegations: readonly Delegation[],
  reader: string,
  room: number,
): KnownBlock[] {
  const shown = delegations.slice(0, Math.max(0, Math.floor((room - 2) / 2)));
  if (shown.length === 0) return [];
  const left = delegations.length - shown.length;
  return [
    { type: 'header', text: plain(delegationTexts.listTitle) },
    ...shown.flatMap((delegation): KnownBlock[] => [
      line(...delegationTexts.row(delegation, reader)),
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: END_DELEGATION,
            text: plain(delegationTexts.end),
            value: `${delegation.from} ${delegation.id}`,
          },
        ],
      },
    ]),
    ...(left === 0 ? [] : [line(words(delegationTexts.others(left)))]),
  ];
}

/** Builds the list of grants with a button to revoke each, in so many blocks at most. */
export function buildGrants(grants: readonly GrantRecord[], room: number): KnownBlock[] {
  const shown = grants.slice(0, Math.max(0, Math.floor((room - 2) / 2)));
  if (shown.length === 0) return [];
  const left = grants.length - shown.length;
  return [
    { type: 'header', text: plain(grantTexts.listTitle) },
    ...shown.flatMap(buildRow),
    ...(left === 0 ? [] : [line(words(grantTexts.others(left)))]),
  ];
}

function buildRow(grant: GrantRecord): KnownBlock[] {
  const { title = grant.id, tool = '', covers, by = [], requesters = [] } = grantDetailsOf(grant) ?? {};
  const covered = grantTexts.covered(title, covers, readableName(tool));
  return [
    {
      type: 'section',
      block_id: grant.id,
      text: plain(showLabel(covered, limits.description)),
      accessory: { type: 'button', action_id: REVOKE, text: plain(grantTexts.revoke), value: grant.id },
    },
    line(
      words(grantTexts.row(grant.used, grant.uses)),
      ...mentions(by),
      words(grantTexts.rowFor),
      ...mentions(requesters),
      words(grantTexts.rowUntil),
      moment(grant.expiresAt),
    ),
  ];
}

export const HOME_CONNECT = 'home-connect';
export const HOME_DISCONNECT = 'home-disconnect';

/** The account of a person at a server, or that there is none. */
export interface Account {
  readonly server: Pick<RequesterServer, 'name' | 'url'>;
  readonly isConnected: boolean;
}

/** Builds the accounts of a person, each with the button that connects or disconnects it. */
export function buildAccounts(accounts: readonly Account[]): KnownBlock[] {
  if (accounts.length === 0) return [];
  return [
    { type: 'header', text: plain(connectionTexts.homeTitle) },
    ...accounts.map(({ server: { name, url }, isConnected }): KnownBlock => {
      const [server, { host }] = [showLabel(name, limits.label), new URL(url)];
      return {
        type: 'section',
        text: plain(
          isConnected
            ? connectionTexts.homeConnected(server, host)
            : connectionTexts.homeNotConnected(server, host),
        ),
        accessory: {
          type: 'button',
          action_id: isConnected ? HOME_DISCONNECT : HOME_CONNECT,
          value: name,
          text: plain(isConnected ? connectionTexts.disconnect : connectionTexts.connect),
        },
      };
    }),
  ];
}
