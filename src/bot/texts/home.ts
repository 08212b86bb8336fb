import type { ListName } from '../home/load-lists.ts';

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
} as const;
