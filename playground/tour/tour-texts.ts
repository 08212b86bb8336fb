import type { TourStep } from '../protocol.ts';
import { CAST } from '../slack/default-cast.ts';

export type TourStepId =
  | 'approved-refund'
  | 'reject'
  | 'plug'
  | 'question'
  | 'small-refund'
  | 'two-people'
  | 'edit'
  | 'expiry'
  | 'passkey'
  | 'kill';

/** Texts of a step; no prompt contains another, so that a thread identifies its step. */
export interface TourText extends Pick<TourStep, 'title' | 'text' | 'as' | 'prompt' | 'next'> {
  readonly id: TourStepId;
}

/** The message that the playground opens with, so that a card is already waiting. */
export const OPENING_PROMPT = 'Please refund 120 dollars of order A-1001, the top is scratched.';

/** The order that is refunded while the bot is killed: its bank takes seconds. */
export const SLOW_ORDER = 'A-1005';

/** Added to a step with a kill when the button was pressed while nothing ran. */
export const KILL_MISSED =
  'The last kill hit nothing that ran, so there was nothing to recover. Start again, and press the button while the card shows the progress.';

/** The three acts: yes, no, and no power. */
export const ACTS: readonly TourText[] = [
  {
    id: 'approved-refund',
    title: 'Say yes',
    text: 'Remi asked for this refund, and the agent prepared it. You are Alice, an approver. The card shows exactly what will run, and nothing runs without you.',
    as: CAST.requester,
    prompt: OPENING_PROMPT,
    next: [{ as: CAST.alice, text: 'Click Approve on the card.' }],
  },
  {
    id: 'reject',
    title: 'Say no',
    text: 'A rejection needs a reason, and the agent gets it. It answers with a better proposal, which needs your yes again.',
    as: CAST.requester,
    prompt: 'Please refund 300 dollars of order A-1001, it wobbles too.',
    next: [{ as: CAST.alice, text: 'Click Reject and write why, such as: Half is enough.' }],
  },
  {
    id: 'plug',
    title: 'Pull the plug',
    text: 'The worst moment for a crash is in the middle of a payment. Here the bank takes twelve seconds. Cut the power, and see whether the money is paid twice.',
    as: CAST.requester,
    prompt: `Please refund 250 dollars of order ${SLOW_ORDER}, two legs were missing.`,
    next: [
      { as: CAST.alice, text: 'Click Approve on the card.' },
      { as: CAST.alice, text: 'While the card says Running, pull the plug.', kills: true },
    ],
  },
];

/** The steps under More. */
export const MORE_STEPS: readonly TourText[] = [
  {
    id: 'question',
    title: 'Answer a question',
    text: 'The bot needs to know which order you mean, so it asks with buttons. The thread waits for the answer, for days if necessary.',
    as: CAST.requester,
    prompt: 'Please look up an order for me.',
    next: [
      {
        as: CAST.requester,
        text: 'Click an order on the card, or reply in the thread with another order number.',
      },
    ],
  },
  {
    id: 'small-refund',
    title: 'A small refund runs right away',
    text: 'manifest.yml lets refunds of up to $100 run without approval. There is no card and no waiting.',
    as: CAST.requester,
    prompt: 'Please refund 20 dollars of order A-1001, it came late.',
    next: [{ as: CAST.requester, text: 'Read the reply in the thread. Nobody had to approve it.' }],
  },
  {
    id: 'two-people',
    title: 'Two approvals for a deletion',
    text: "Deleting a customer can't be undone, so it needs two different approvers. One person clicking twice still counts once.",
    as: CAST.requester,
    prompt: 'Please delete the customer Tomo Arai.',
    next: [
      {
        as: CAST.alice,
        text: "Click Approve, type the customer's name and approve. That is the first of two approvals.",
      },
      { as: CAST.bruno, text: 'Click Approve and type the name as well. Now it runs.' },
    ],
  },
  {
    id: 'edit',
    title: 'Edit a request before approval',
    text: 'An approver can correct a request. A new card with the corrected arguments replaces the first one, and the model learns what really ran.',
    as: CAST.requester,
    prompt: 'Please refund 150 dollars of order A-1003, a wheel is broken.',
    next: [
      {
        as: CAST.alice,
        text: 'Choose Edit in the menu of the card, change the amount and submit.',
      },
      { as: CAST.bruno, text: 'Click Approve on the new card.' },
    ],
  },
  {
    id: 'expiry',
    title: 'A request that expires',
    text: 'An update of the status page expires after 45 seconds without a decision. Expired is not rejected: the card then offers to request it again.',
    as: CAST.requester,
    prompt: 'Please publish on the status page: "Payments are slow, we are on it."',
    next: [{ as: CAST.requester, text: 'Do nothing for 45 seconds, and watch the card and the thread.' }],
  },
  {
    id: 'passkey',
    title: 'Approve with a passkey',
    text: "Who steals a Slack session can click Approve. For production that isn't enough: Alice's own key signs exactly what will run. If your browser has no passkeys, the playground offers a key in software.",
    as: CAST.requester,
    prompt: 'Please deploy search 2.4.1 to production.',
    next: [
      {
        as: CAST.alice,
        text: 'Type /countersign passkey in the channel and open the page. Sign in as Alice and add a passkey.',
      },
      {
        as: CAST.admin,
        text: "Confirm it: Countersign's direct message to Ada has the command. Add the code, which only Alice is shown.",
      },
      { as: CAST.alice, text: 'Click Approve on the card, open the link in the answer, read, and sign.' },
    ],
  },
  {
    id: 'kill',
    title: 'Kill the bot during an action',
    text: 'A refund can be tried again: its key makes sure that it is booked once. A deployment must not run twice, so after a crash the bot asks a person instead of guessing.',
    as: CAST.requester,
    prompt: 'Please deploy checkout 2.4.1 to staging.',
    next: [
      { as: CAST.alice, text: 'Click Approve.' },
      { as: CAST.alice, text: 'While the card shows the progress, press the red button.', kills: true },
      {
        as: CAST.alice,
        text: "The bot restarts and soon asks on the card what happened: It ran, It didn't run, or Run again.",
      },
    ],
  },
];
