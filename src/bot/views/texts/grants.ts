import { conditionInWords } from '../../../policy/condition.ts';
import { durationInWords } from '../../../policy/limits.ts';
import { plural } from './format.ts';

/** The terms of a grant, as the policy has them. */
export interface GrantTerms {
  readonly forMs: number;
  readonly uses: number;
  readonly scope: 'thread' | 'requester';
  readonly when?: string | undefined;
}

/** Every sentence about grants. */
export const grantTexts = {
  menu: 'Approve and pre-approve more…',
  title: 'Approve and pre-approve',
  submit: 'Approve and pre-approve',
  intro: (title: string) => `You're about to approve: ${title}`,
  scope: ({ forMs, uses, scope, when }: GrantTerms, tool: string) =>
    [
      `For ${durationInWords(forMs)}, up to ${plural(uses, 'more call')} of “${tool}” ${uses === 1 ? 'runs' : 'run'} without asking anyone,`,
      when === undefined ? 'with exactly the same arguments,' : `as long as ${conditionInWords(when)},`,
      scope === 'thread' ? 'for the same people in this thread only.' : 'for the same people in any thread.',
    ].join(' '),
  rules:
    'The pre-approval ends when the tool or its policy changes, and you can revoke it at any time. If several people must approve, all of them have to pre-approve.',
  onCard: ({ forMs, uses }: GrantTerms) =>
    `Also pre-approved: up to ${plural(uses, 'more call')} within ${durationInWords(forMs)} of this approval.`,
  revokedBy: 'Pre-approval for more calls was revoked by ',
  revoke: 'Revoke',
  used: (title: string) => `${title} runs without a new approval`,
  usedTail: (used: number, uses: number) => ` (use ${used} of ${uses}), pre-approved by `,
  listTitle: 'Pre-approved actions',
  none: 'There are no pre-approved actions.',
  row: (used: number, uses: number) => `${used} of ${uses} used · pre-approved by `,
  rowFor: ' · for ',
  rowUntil: ' · until ',
  others: (count: number) => `${count} more`,
  revoked: (used: number) => `Revoked. It was used ${plural(used, 'time')}.`,
  unknown: 'This pre-approval has already ended.',
  notYours: "You can't revoke this pre-approval. Its approvers, its requesters and admins can.",
} as const;
