import type { BotSupervisor } from '../bot/supervise-bot.ts';
import type { ReleaseJob } from '../job/release-job.ts';
import type { PersonNotes } from '../page-server/entities/people.ts';
import type { PlaygroundEntity } from '../protocol.ts';
import { CAST } from '../slack/default-cast.ts';
import { followTour, type TourSources } from '../tour/follow-tour.ts';

export interface ViewSources extends Omit<TourSources, 'onChange' | 'bot'> {
  readonly bot: BotSupervisor;
  readonly model: PlaygroundEntity['model'];
  /** A message that calls each tool of a manifest of one's own, which has no tour; missing for the shop. */
  readonly calls?: readonly string[] | undefined;
  /** Opens the job of the terminal, which tells of its changes; missing if the manifest does not name its caller. */
  readonly openJob?: ((onChange: () => void) => ReleaseJob) | undefined;
}

/** The playground's own state for the page, and what its buttons do. */
export interface PlaygroundView {
  entity(): PlaygroundEntity;
  onChange(listener: () => void): void;
  kill(): Promise<void>;
  startJob(): void;
  interruptJob(): void;
  close(): Promise<void>;
}

/** Combines the bot's state and the tour for the page; listeners are notified of every change. */
export async function openPlaygroundView(sources: ViewSources): Promise<PlaygroundView> {
  const { bot, model, openJob, calls } = sources;
  const listeners: (() => void)[] = [];
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const tour = calls === undefined ? await followTour({ ...sources, onChange: notify }) : undefined;
  bot.onChange(notify);
  const job = openJob?.(notify);
  return {
    entity: () => ({
      ...{ key: 'playground', kind: 'playground', bot: bot.state(), model, tour: tour?.steps() ?? [] },
      ...(calls !== undefined && { calls }),
      ...(job !== undefined && { job: job.state() }),
    }),
    onChange: (listener) => void listeners.push(listener),
    kill: () => bot.kill(),
    startJob: () => job?.start(),
    interruptJob: () => job?.interrupt(),
    async close() {
      await job?.stop();
      await tour?.stop();
    },
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
