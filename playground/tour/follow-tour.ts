import { readRefunds } from '../../examples/shop/ledger.ts';
import { connectRedis } from '../../src/store/redis/connect.ts';
import type { BotSupervisor } from '../bot/supervise-bot.ts';
import type { TourStep } from '../protocol.ts';
import type { RecordReader } from '../record/open-record-reader.ts';
import type { WorkspaceState } from '../slack/state/workspace-state.ts';
import { readThreadOpenings } from './read-facts.ts';
import { tourSteps } from './tour-steps.ts';

export interface TourSources {
  readonly record: Pick<RecordReader, 'allRequests'>;
  readonly redisUrl: string;
  readonly workspace: WorkspaceState;
  readonly bot: Pick<BotSupervisor, 'state' | 'onChange'>;
  readonly onChange: () => void;
}

/** The tour's steps as of the last check. */
export interface FollowedTour {
  steps(): readonly TourStep[];
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;

/** Updates the tour's progress every second and whenever the bot's process changes. */
export async function followTour(sources: TourSources): Promise<FollowedTour> {
  const { record, workspace, bot, onChange } = sources;
  const redis = await connectRedis({ mode: 'single', urls: [sources.redisUrl] });
  let steps: readonly TourStep[] = [];
  let looking: Promise<void> | undefined;
  let isStopped = false;

  async function lookOnce(): Promise<void> {
    const [requests, refunds] = await Promise.all([record.allRequests(), readRefunds(redis)]);
    const facts = { requests, refunds, openings: readThreadOpenings(workspace), kills: bot.state().kills };
    const next = tourSteps(facts);
    if (JSON.stringify(next) === JSON.stringify(steps)) return;
    steps = next;
    onChange();
  }

  function look(): Promise<void> {
    if (isStopped) return Promise.resolve();
    looking ??= lookOnce()
      // A Redis that is away for a moment delays the tour, and nothing else.
      .catch(() => {})
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  await look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  bot.onChange(() => void look());
  return {
    steps: () => steps,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await looking;
      redis.disconnect();
    },
  };
}
