import { plural } from '../cards/values/render-value.ts';

/** Every sentence of a digest. */
export const digestTexts = {
  title: (count: number) =>
    count === 1 ? '1 request is waiting for you' : `${count} requests are waiting for you`,
  why: 'Several requests came at once, so they are listed here instead of one message each. This list is kept up to date.',
  more: (count: number) => `and ${plural(count, 'more request')}. The Home tab lists all of them.`,
  unknown: 'Outcome unknown · ',
  askedFor: 'For ',
  done: 'Nothing left on this list',
  doneText: 'Everything that was listed here is decided or has ended.',
  moved: 'This list has moved to a newer message below.',
} as const;
