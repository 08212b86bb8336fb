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
  'The last kill met no running deployment, so there was nothing to recover: begin again, and press the button while the card says how far it is.';

export const TOUR_TEXTS: readonly TourText[] = [
  {
    id: 'question',
    title: 'A question with choices',
    text: 'The bot is asked for something that it cannot know, so it asks back, with buttons. The thread waits for the answer, days if need be.',
    as: CAST.requester,
    prompt: 'Please look up an order for me.',
    next: [
      {
        as: CAST.requester,
        text: 'Click an order on the card. A reply in the thread with another number counts as well.',
      },
    ],
  },
  {
    id: 'small-refund',
    title: 'A small refund just runs',
    text: 'manifest.yml lets refunds of up to 100 dollars run without a signature. No card, no waiting.',
    as: CAST.requester,
    prompt: 'Please refund 20 dollars of order A-1001, it came late.',
    next: [{ as: CAST.requester, text: 'Read the answer in the thread. Nobody had to be asked.' }],
  },
  {
    id: 'approved-refund',
    title: 'A larger refund needs a signature',
    text: 'Above 100 dollars somebody of the approvers signs. The card shows exactly what will run, and it runs only then. Click Approve as Remi first: he is told that this is not his to decide.',
    as: CAST.requester,
    prompt: 'Please refund 120 dollars of order A-1001, the top is scratched.',
    next: [
      { as: CAST.alice, text: 'Click Approve on the card in the thread, or on its copy in the messages.' },
    ],
  },
  {
    id: 'two-people',
    title: 'Two people for what cannot be undone',
    text: 'Deleting a customer takes two different people. One of them clicking twice is still one.',
    as: CAST.requester,
    prompt: 'Please delete the customer Tomo Arai.',
    next: [
      { as: CAST.alice, text: 'Click Approve and confirm: 1 of 2 signed.' },
      { as: CAST.bruno, text: 'Click Approve and confirm: now it runs.' },
    ],
  },
  {
    id: 'edit',
    title: 'An edit before the approval',
    text: 'An approver may correct what is asked for. The first card is superseded, a new one shows the corrected arguments, and the model learns what really ran.',
    as: CAST.requester,
    prompt: 'Please refund 150 dollars of order A-1003, a wheel is broken.',
    next: [
      { as: CAST.alice, text: 'Click Edit, change the amount to 11000 (cents) and submit.' },
      { as: CAST.bruno, text: 'Click Approve on the new card.' },
    ],
  },
  {
    id: 'reject',
    title: 'A rejection with a reason',
    text: 'Whoever rejects says why. The model is told the reason and does not try another way.',
    as: CAST.requester,
    prompt: 'Please refund 200 dollars of order A-1003, I changed my mind.',
    next: [{ as: CAST.bruno, text: 'Click Reject, and write a reason.' }],
  },
  {
    id: 'expiry',
    title: 'A request that expires',
    text: 'A line for the status page may wait for 45 seconds; after that the request expires by itself. Expired is not denied: the card then offers to ask again.',
    as: CAST.requester,
    prompt: 'Please publish on the status page: "Payments are slow, we are on it."',
    next: [
      {
        as: CAST.requester,
        text: 'Do nothing for 45 seconds, and see what becomes of the card and the thread.',
      },
    ],
  },
  {
    id: 'kill',
    title: 'Kill the bot in the middle',
    text: 'A deployment takes about eight seconds and cannot simply be tried twice. When the process dies meanwhile, nobody knows whether it ran, so the bot does not guess: it asks. A refund would not ask, since it is idempotent: it is tried again with the same key and is booked once.',
    as: CAST.requester,
    prompt: 'Please deploy checkout 2.4.1 to staging.',
    next: [
      {
        as: CAST.alice,
        text: 'Click Approve. While the card says how far it is, press the red button below.',
      },
      {
        as: CAST.alice,
        text: 'The bot is started again by itself and soon asks on the card what happened: It ran, It did not run, or Run again.',
      },
    ],
  },
];
