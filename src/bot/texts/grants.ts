import { conditionInWords } from '../../tools/gate/condition-words.ts';
import { durationInWords } from '../../tools/gate/limits.ts';
import { plural } from '../cards/values/render-value.ts';

/** The terms of a grant, as the policy has them. */
export interface GrantTerms {
  readonly forMs: number;
  readonly uses: number;
  readonly scope: 'thread' | 'requester';
  readonly when?: string | undefined;
}

/** Every sentence about grants. */
export const grantTexts = {
  menu: 'Approve and allow again…',
  title: 'Approve and allow again',
  submit: 'Approve and allow',
  intro: (title: string) => `You're about to approve: ${title}`,
  scope: ({ forMs, uses, scope, when }: GrantTerms, tool: string) =>
    [
      `For ${durationInWords(forMs)}, up to ${plural(uses, 'more call')} of “${tool}” ${uses === 1 ? 'runs' : 'run'} without asking anyone,`,
      when === undefined ? 'with exactly the same arguments,' : `as long as ${conditionInWords(when)},`,
      scope === 'thread' ? 'for the same people in this thread only.' : 'for the same people in any thread.',
    ].join(' '),
  rules:
    'It ends when the tool or its policy changes, and you can revoke it at any time. If several people must approve, all of them have to allow it.',
  onCard: ({ forMs, uses }: GrantTerms) =>
    `The same is allowed again for ${durationInWords(forMs)} after the approval, up to ${plural(uses, 'time')}.`,
  revokedBy: 'The same was allowed again until it was revoked by ',
  revoke: 'Revoke',
  used: (title: string) => `${title} runs without a new approval`,
  usedTail: (used: number, uses: number) => `: use ${used} of ${uses} of what was allowed by `,
  listTitle: 'Allowed again without asking',
  none: 'Nothing is allowed without asking.',
  row: (used: number, uses: number) => `${used} of ${uses} used · allowed by `,
  rowFor: ' · for ',
  rowUntil: ' · until ',
  others: (count: number) => plural(count, 'more'),
  revoked: (used: number) => `Revoked. It was used ${plural(used, 'time')}.`,
  revokedMeanwhile: 'What was allowed before was revoked, so this needs a new approval.',
  unknown: 'This has ended already.',
  notYours: "You can't revoke this. Its approvers, its requesters and admins can.",
} as const;
