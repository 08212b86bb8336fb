import { CAST } from '../slack/default-cast.ts';

export type TourStepId =
  | 'question'
  | 'small-refund'
  | 'approved-refund'
  | 'two-people'
  | 'edit'
  | 'reject'
  | 'expiry'
  | 'kill';

/** Texts of a step; no prompt contains another, so that a thread identifies its step. */
export interface TourText {
  readonly id: TourStepId;
  readonly title: string;
  readonly text: string;
  readonly as: string;
  readonly prompt: string;
  readonly next: readonly { readonly as: string; readonly text: string }[];
}

/** Added to the kill step when the button was pressed while nothing ran. */
export const KILL_MISSED =
  'The last kill hit no running deployment, so there was nothing to recover. Start again, and press the button while the card shows the progress.';

export const TOUR_TEXTS: readonly TourText[] = [
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
    id: 'approved-refund',
    title: 'A larger refund needs approval',
    text: 'A refund above $100 needs one approver. The card shows exactly what will run, and it runs only after approval. Click Approve as Remi first: the bot tells him that he is not an approver.',
    as: CAST.requester,
    prompt: 'Please refund 120 dollars of order A-1001, the top is scratched.',
    next: [
      {
        as: CAST.alice,
        text: 'Click Approve on the card in the thread, or on its copy in the direct messages.',
      },
    ],
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
        text: 'Choose Edit in the menu of the card, change the amount to 11000 (cents) and submit.',
      },
      { as: CAST.bruno, text: 'Click Approve on the new card.' },
    ],
  },
  {
    id: 'reject',
    title: 'Reject with a reason',
    text: 'A rejection needs a reason. The model gets the reason and does not try another way.',
    as: CAST.requester,
    prompt: 'Please refund 200 dollars of order A-1003, I changed my mind.',
    next: [{ as: CAST.bruno, text: 'Click Reject and enter a reason.' }],
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
    id: 'kill',
    title: 'Kill the bot during an action',
    text: 'A deployment takes about eight seconds and must not run twice. If the process dies in the middle, nobody knows whether it ran, so the bot asks a person instead of guessing. A refund would not need a person: it is idempotent, so it is retried with the same key and booked once.',
    as: CAST.requester,
    prompt: 'Please deploy checkout 2.4.1 to staging.',
    next: [
      {
        as: CAST.alice,
        text: 'Click Approve. While the card shows the progress, press the red button below.',
      },
      {
        as: CAST.alice,
        text: "The bot restarts and soon asks on the card what happened: It ran, It didn't run, or Run again.",
      },
    ],
  },
];
