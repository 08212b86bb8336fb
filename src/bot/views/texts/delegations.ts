import type { RichTextElement } from '@slack/types';
import type { Delegation } from '../../../store/documents/delegations.ts';
import { mention, moment, words } from './format.ts';

function why(reason: string): string {
  if (reason === '') return '';
  return ` Reason: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
}

/** Every sentence about delegations. */
export const delegationTexts = {
  usage:
    'Use `/countersign delegate @Bob until Friday holidays`; also `until 18:00`, `until 2026-12-01` or `for 3 days`. `/countersign delegate stop` ends it.',
  notFound:
    "I can't tell who that is. Mention the person, or use their member ID: `/countersign delegate U012ABCDEF until Friday`.",
  noTime: (usage: string) => `I couldn't read the end date. ${usage}`,
  tooLong: (days: number) => `That's too long: a delegation lasts at most ${days} days.`,
  over: 'That time has passed.',
  toYourself: "You can't delegate to yourself.",
  nowhere:
    'None of the policies under which you approve allows delegation. An admin of this app can change that.',
  cannotCheck: "I can't check that person in Slack right now. Please try again in a moment.",
  notPossible: {
    isDeactivated: "That account is deactivated, so it can't decide for you.",
    isBot: "Bots can't decide for you.",
    isStranger: 'Only members of this workspace can decide for you.',
    isGuest: "Guests can't decide for you.",
  },
  done: (
    { to, until, reason }: Pick<Delegation, 'to' | 'until' | 'reason'>,
    status: string | undefined,
  ): RichTextElement[] => [
    words('Until '),
    moment(until),
    words(', '),
    mention(to),
    words(` can approve and reject for you, where the policy of a request allows it.${why(reason)}`),
    words(' You can still decide yourself; only one decision from the two of you counts per request.'),
    ...(status === undefined ? [] : [words(` Their status in Slack now: ${status}`)]),
  ],
  needsPasskey: 'Where approvals need a passkey, this counts only once yours has signed it.',
  sign: (url: string): RichTextElement[] => [
    { type: 'link', url, text: 'Review and sign' },
    words('. The link is for you alone and works once, for 10 minutes.'),
  ],
  noKey: 'You have none that counts yet. Type /countersign passkey, and then delegate again.',
  noPage: 'The page where you would sign is switched off. Ask an admin.',
  signed: 'Signed. You can close this page.',
  notSigned: "That signature doesn't count, so nothing changed. Type /countersign delegate in Slack again.",
  given: {
    title: 'Delegated to you until ',
    tail: (reason: string) => `.${why(reason)} Where a policy allows it, you can approve and reject for `,
  },
  end: 'End',
  ended: 'Ended. They can no longer decide for you.',
  endedTo: 'Ended. You no longer decide for them.',
  endedOther: 'Ended.',
  none: "You haven't delegated anything.",
  gone: 'This has ended already.',
  declared: 'An admin has set this in the manifest, and only the manifest ends it.',
  notYours: 'Only the two people in this delegation or an admin can end it.',
  told: {
    title: 'Delegation ended. ',
    to: 'You no longer decide for ',
    from: 'Nobody can decide for you now. Ended by ',
  },
  listTitle: 'Delegations',
  empty: 'Nothing is delegated by you or to you.',
  row: ({ from, to, until, reason }: Delegation, reader: string): RichTextElement[] => [
    ...(to === reader ? [words('You decide for ')] : [mention(to), words(' decides for ')]),
    ...(from === reader ? [words('you')] : [mention(from)]),
    words(' until '),
    moment(until),
    words(`.${why(reason)}`),
  ],
  others: (count: number) => `${count} more`,
  askedFor: 'Sent to you because you decide for ',
  mayDelegate: 'An approver who is away may let somebody else decide for them.',
  endedBefore: "You don't decide for anyone here any more: the delegation has ended.",
  noGrant: "Approved, this time only. A stand-in can't pre-approve more calls; only the approver can.",
  decidedForYou: (by: string) => `<@${by}> has already decided this for you.`,
  decidedThemselves: (by: string) => `<@${by}> has already decided this, so you can't decide it for them.`,
  decidedInPlace: (by: string) =>
    `<@${by}> has already decided this for the same approver, and each approver counts only once.`,
} as const;
