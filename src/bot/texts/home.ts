import { plural } from '../cards/render-value.ts';
import type { ListName } from '../home/load-lists.ts';
import type { PolicyStats } from '../home/policy-stats.ts';

/** Every sentence of App Home and of the lists of the slash command. */
export const homeTexts = {
  titles: {
    waiting: 'Waiting for me',
    asked: 'Requested by me',
    decided: 'Recent decisions',
  } satisfies Record<ListName, string>,
  empty: {
    waiting: "You're all caught up.",
    asked: 'You have no requests.',
    decided: 'No recent decisions.',
  } satisfies Record<ListName, string>,
  view: 'View',
  viewTitle: (title: string) => `View ${title}`,
  newest: 'Back to the newest',
  older: 'Older',
  statsTitle: 'Policies, by recent decisions',
  noStats: 'No decisions yet.',
  statsLine: ({ requests, approvalRate, medianSeconds, expired }: PolicyStats) =>
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
