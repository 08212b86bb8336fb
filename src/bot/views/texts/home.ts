import type { ListName } from '../../../engine/asks/load-lists.ts';
import { callerId } from '../../../tools/callers.ts';
import { momentText, plural } from './format.ts';

/** Every sentence of App Home and of the lists of the slash command. */
export const homeTexts = {
  titles: {
    waiting: 'Waiting for you',
    asked: 'Requested by you',
    decided: 'Recent',
  } satisfies Record<ListName, string>,
  empty: {
    waiting: "You're all caught up.",
    asked: 'You have no requests.',
    decided: 'No recent decisions.',
  } satisfies Record<ListName, string>,
  /** The way to the whole request: of one that waits to decide it, of any other to see it. */
  view: { pending: 'Review', settled: 'View' },
  awaited: (what: string) => `Waiting for: ${what}`,
  viewTitle: (word: string, title: string) => `${word} ${title}`,
  approveTitle: (title: string) => `Approve ${title}`,
  highRisk: 'High risk',
  why: (reason: string) => `Why: ${reason}`,
  ifRejected: 'If you reject, nothing runs, and who asked reads why.',
  /** For a person who has nothing here yet. */
  welcome:
    'Mention me in a channel or write to me, and I do the work. What is risky waits here until the right people approve it. To begin, write to me: `What can you do here?`, `Which of it needs approval?`, or `/countersign` to see your requests.',
  directMessage: 'a direct message',
  /** Says how long a request still waits; App Home says of which moment it is. */
  expiresIn(ms: number): string {
    const minutes = Math.max(0, Math.floor(ms / 60_000));
    if (minutes < 1) return 'expires now';
    if (minutes < 60) return `expires in ${minutes} min`;
    const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60), minutes % 60];
    if (days >= 2) return `expires in ${days} days`;
    return `expires in ${hours} h${rest === 0 ? '' : ` ${rest} min`}`;
  },
  asOf: (at: number) =>
    `As of <!date^${Math.floor(at / 1000)}^{date_short_pretty} at {time}|${momentText(at)}>`,
  refresh: 'Refresh',
  first: 'Back to the first',
  more: 'More',
  problemsTitle: (count: number) => `${plural(count, 'problem')} with tools`,
  seeDoctor: '"countersign doctor" says how to fix it.',
  moreProblems: (count: number) =>
    `And ${count} more: "countersign doctor" lists all and says how to fix them.`,
  statsTitle: 'Policies, by recent decisions',
  noStats: 'No decisions yet.',
  statsName: ({ policy = '', caller }: DecisionStats) => (caller === undefined ? policy : callerId(caller)),
  statsLine: ({ requests, approvalRate, medianSeconds, expired }: DecisionStats) =>
    [
      plural(requests, 'request'),
      ...(approvalRate === undefined ? [] : [`${Math.round(approvalRate * 100)}% approved`]),
      ...(medianSeconds === undefined ? [] : [`decided in ${durationText(medianSeconds)} (median)`]),
      ...(expired === 0 ? [] : [`${expired} expired`]),
    ].join(', '),
} as const;

function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds * 10) / 10} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** The decisions under one policy, or about what one caller asked for. */
export interface DecisionStats {
  readonly policy?: string;
  readonly caller?: string;
  readonly requests: number;
  readonly approved: number;
  readonly rejected: number;
  readonly expired: number;
  /** Approved requests of those that people decided, from 0 to 1; `undefined` if none was decided. */
  readonly approvalRate: number | undefined;
  /** From the request to the approval or the rejection that decided it. */
  readonly medianSeconds: number | undefined;
}

/** Every sentence of the slash command. */
export const commandTexts = {
  usage: [
    'Try one of these:',
    '• `/countersign` – your requests, in one list',
    '• `/countersign waiting`, `asked` or `decided` – one part of that list',
    '• `/countersign ask …` – give me a task',
    '• `/countersign delegate @Bob until Friday` – let someone decide for you',
    '• `/countersign delegations` – who decides for whom',
    '• `/countersign grants` – pre-approved actions',
    '• `/countersign passkey` – your passkeys, for approvals that need one',
    'Admins: `/countersign freeze [tool | all] [--model] [reason]` and `/countersign unfreeze [tool | all]`',
  ].join('\n'),
  yourRequests: 'Your requests',
  more: 'There are more in the Home tab of this app.',
} as const;

/** Every sentence of a summary, the message that lists several requests for a person. */
export const summaryTexts = {
  title: (count: number) =>
    count === 1 ? '1 request in this list waits for you' : `${count} requests in this list wait for you`,
  why: 'Several requests came at once, so they are listed here instead of one message each. This list is kept up to date.',
  more: (count: number) => `and ${plural(count, 'more request')}. The Home tab lists all of them.`,
  askedFor: 'For ',
  done: 'Nothing left on this list',
  doneText: 'Everything that was listed here is decided or has ended.',
  moved: 'This list has moved to a newer message below.',
} as const;
