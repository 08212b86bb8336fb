import type { KnownBlock } from '@slack/types';
import type { Freeze } from '../../store/port/store.ts';
import { UNFREEZE } from '../cards/action-ids.ts';
import { line, mention, moment, plain, words } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import { limits } from '../slack/limits.ts';
import { freezeTexts, scopeInWords } from '../texts/freezes.ts';

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
