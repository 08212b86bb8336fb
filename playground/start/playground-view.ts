import type { BotSupervisor } from '../bot/supervise-bot.ts';
import type { PlaygroundEntity } from '../protocol.ts';
import { followTour, type TourSources } from './follow-tour.ts';

export interface ViewSources extends Omit<TourSources, 'onChange' | 'bot'> {
  readonly bot: BotSupervisor;
  readonly model: PlaygroundEntity['model'];
}

/** What the page shows of the playground itself, and the one thing that can be done to it. */
export interface PlaygroundView {
  entity(): PlaygroundEntity;
  onChange(listener: () => void): void;
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Puts together what the page shows beside Slack; listeners hear of every change of the bot's process and of the tour. */
export async function openPlaygroundView(sources: ViewSources): Promise<PlaygroundView> {
  const { bot, model } = sources;
  const listeners: (() => void)[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const tour = await followTour({ ...sources, onChange: tell });
  bot.onChange(tell);
  return {
    entity: () => ({ key: 'playground', kind: 'playground', bot: bot.state(), model, tour: tour.steps() }),
    onChange: (listener) => void listeners.push(listener),
    kill: () => bot.kill(),
    close: () => tour.stop(),
  };
}
