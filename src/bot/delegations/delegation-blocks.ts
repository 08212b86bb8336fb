import type { KnownBlock } from '@slack/types';
import type { Delegation } from '../../store/port/delegations.ts';
import { END_DELEGATION } from '../cards/action-ids.ts';
import { line, plain, words } from '../cards/card.ts';
import type { BotContext } from '../context.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { delegationsNow } from './stand-ins.ts';

/** Lists the delegations that a person has given or received, and for an admin all. */
export async function delegationsFor(
  { store, agent }: Pick<BotContext, 'store' | 'agent'>,
  who: string,
): Promise<readonly Delegation[]> {
  const isAdmin = agent().admins.includes(who);
  const all = await delegationsNow(store);
  const own = all.filter(({ from, to }) => from === who || to === who);
  return isAdmin ? [...own, ...all.filter((each) => !own.includes(each))] : own;
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
