import type { RevokedGrant } from '../../../engine/asks/grants.ts';
import { conditionInWords } from '../../../policy/condition.ts';
import { durationInWords } from '../../../policy/limits.ts';
import { STATE_ICON } from './cards.ts';
import { plural } from './format.ts';

/** The terms of a grant, as the policy has them. */
export interface GrantTerms {
  readonly forMs: number;
  readonly uses: number;
  readonly scope: 'thread' | 'requester';
  readonly when?: string | undefined;
  /** The calls that the condition covers, in words. */
  readonly covers?: string | undefined;
}

/** Every sentence about grants. */
export const grantTexts = {
  menu: 'Approve and pre-approve more…',
  title: 'Approve and pre-approve',
  submit: 'Approve and pre-approve',
  intro: (title: string) => `You're about to approve: ${title}`,
  scope: ({ forMs, uses, scope, when, covers }: GrantTerms, tool: string, caller?: string) =>
    [
      `For ${durationInWords(forMs)}, up to ${plural(uses, 'more call')} of “${tool}” ${uses === 1 ? 'runs' : 'run'} without asking anyone,`,
      when === undefined
        ? 'with exactly the same arguments,'
        : `as long as this holds: ${covers ?? conditionInWords(when)},`,
      scopeInWords(scope, caller),
    ].join(' '),
  rules:
    'The pre-approval ends when the tool or its policy changes, and you can end it at any time. If several people must approve, all of them have to pre-approve.',
  onCard: ({ forMs, uses }: GrantTerms) =>
    `Also pre-approved at that time: up to ${plural(uses, 'more call')} within ${durationInWords(forMs)}.`,
  revokedBy: 'Pre-approval ended by ',
  revoke: 'End pre-approval',
  icon: {
    succeeded: `${STATE_ICON.succeeded} `,
    failed: `${STATE_ICON.failed} `,
    paused: `${STATE_ICON.paused} `,
    unknown: `${STATE_ICON.unknown} `,
  },
  /** The end of a call under a grant, behind its title. */
  used: {
    succeeded: ' · pre-approved by ',
    failed: ' failed · pre-approved by ',
    paused: ' started · pre-approved by ',
    unknown: ': it may or may not have happened · pre-approved by ',
  },
  count: (used: number, uses: number) => ` (${used} of ${uses})`,
  /** What a grant covers: calls that fit its condition, or the same call again. */
  covered: (title: string, covers: string | undefined, tool: string) =>
    covers === undefined ? `${title}, exactly the same again` : `${tool}: ${covers}`,
  any: (label: string) => `any ${label}`,
  anyOther: 'anything else',
  listTitle: 'Pre-approved actions',
  none: 'There are no pre-approved actions.',
  row: (used: number, uses: number) => `${uses - used} of ${uses} left · pre-approved by `,
  rowFor: ' · for ',
  rowUntil: ' · until ',
  others: (count: number) => `${count} more`,
  revoked: (used: number) => `Pre-approval ended. It was used ${plural(used, 'time')}.`,
  unknown: 'This pre-approval has already ended.',
  notYours: "You can't end this pre-approval. Its approvers, its requesters and admins can.",
} as const;

function scopeInWords(scope: GrantTerms['scope'], caller: string | undefined): string {
  if (caller !== undefined) return `for ${caller} only.`;
  return scope === 'thread'
    ? 'for the same people in this thread only.'
    : 'for the same people in any thread.';
}

/** Says how an attempt to revoke a grant ended. */
export function revokedText(result: RevokedGrant): string {
  if (result.outcome === 'revoked') return grantTexts.revoked(result.used);
  return result.outcome === 'unknown' ? grantTexts.unknown : grantTexts.notYours;
}
