import type { BotSupervisor } from '../bot/supervise-bot.ts';
import type { PersonNotes } from '../page-server/entities/people.ts';
import type { PlaygroundEntity } from '../protocol.ts';
import { CAST } from '../slack/default-cast.ts';
import { followTour, type TourSources } from '../tour/follow-tour.ts';

export interface ViewSources extends Omit<TourSources, 'onChange' | 'bot'> {
  readonly bot: BotSupervisor;
  readonly model: PlaygroundEntity['model'];
}

/** The playground's own state for the page, and the kill action. */
export interface PlaygroundView {
  entity(): PlaygroundEntity;
  onChange(listener: () => void): void;
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Combines the bot's state and the tour for the page; listeners are notified of every change. */
export async function openPlaygroundView(sources: ViewSources): Promise<PlaygroundView> {
  const { bot, model } = sources;
  const listeners: (() => void)[] = [];
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const tour = await followTour({ ...sources, onChange: notify });
  bot.onChange(notify);
  return {
    entity: () => ({ key: 'playground', kind: 'playground', bot: bot.state(), model, tour: tour.steps() }),
    onChange: (listener) => void listeners.push(listener),
    kill: () => bot.kill(),
    close: () => tour.stop(),
  };
}

/** The job of each person, and one line for the person switcher. */
export const PERSON_NOTES: PersonNotes = {
  [CAST.requester]: { title: 'Support', about: "makes requests; can't approve them" },
  [CAST.alice]: { title: 'Approver', about: 'approves refunds, deployments and deletions' },
  [CAST.bruno]: { title: 'Approver', about: 'the second approval where two are needed' },
  [CAST.admin]: {
    title: '',
    about: 'approves refunds and deletions, is notified of manifest errors',
  },
  [CAST.guest]: { title: '', about: "in #general; can't approve" },
  [CAST.outsider]: { title: '', about: "in #partners; can't approve" },
};
