import type { BotSupervisor } from '../bot/supervise-bot.ts';
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

/** One line per person for the person switcher. */
export const PERSON_NOTES: Readonly<Record<string, string>> = {
  [CAST.requester]: "makes requests; can't approve them",
  [CAST.alice]: 'approver for refunds, deployments and deletions',
  [CAST.bruno]: 'approver; the second approval where two are needed',
  [CAST.admin]: 'admin; approves refunds and deletions, is notified of manifest errors',
  [CAST.guest]: "guest in #general; can't approve",
  [CAST.outsider]: "from another company, in #partners; can't approve",
};
