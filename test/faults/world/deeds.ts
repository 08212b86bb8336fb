import { CAST } from '../../../playground/slack/default-cast.ts';
import { hasSigned, type ShownCard } from './cards.ts';
import type { Intent } from './errand.ts';

/** Clicks one button of a card as one person, again if nothing seems to have happened. */
export interface Actor {
  readonly who: string;
  readonly actionId: string;
  /** Left out, they do it as soon as they see the button. */
  readonly when?: (card: ShownCard) => boolean;
}

const isEdited = ({ text }: ShownCard) => text.includes('edited by');

/** The action of people for each intent; a crowd's decision or a message is not an action on one card. */
export const DEEDS: Readonly<Record<Intent, readonly Actor[]>> = {
  approve: [{ who: CAST.alice, actionId: 'approve' }],
  allow: [{ who: CAST.alice, actionId: 'approve-grant' }],
  'both-approve': [
    { who: CAST.alice, actionId: 'approve' },
    { who: CAST.bruno, actionId: 'approve' },
  ],
  'edit-and-approve': [
    { who: CAST.bruno, actionId: 'edit', when: (card) => !isEdited(card) },
    { who: CAST.alice, actionId: 'approve', when: isEdited },
  ],
  'wait-and-approve': [
    { who: CAST.admin, actionId: 'approve', when: ({ text }) => text.includes(CAST.admin) },
  ],
  reject: [{ who: CAST.bruno, actionId: 'reject' }],
  ignore: [],
  withdraw: [{ who: CAST.requester, actionId: 'withdraw' }],
  answer: [{ who: CAST.requester, actionId: 'choose:0' }],
  stop: [],
  'sign-and-withdraw': [
    { who: CAST.alice, actionId: 'approve' },
    { who: CAST.requester, actionId: 'withdraw', when: (card) => hasSigned(card, CAST.alice) },
  ],
  race: [
    { who: CAST.alice, actionId: 'approve' },
    { who: CAST.bruno, actionId: 'reject' },
  ],
  crowd: [],
  'crowd-at-expiry': [],
};
