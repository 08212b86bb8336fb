import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Model } from '../agent/model.ts';
import type { Store } from '../store/port.ts';
import type { PendingLimits } from '../tools/manifest/manifest.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import type { CallbackUrls } from './callbacks/callback-urls.ts';
import type { Directory } from './people/directory.ts';
import type { PendingBrake } from './requests/pending-brake.ts';
import type { RunningTurns } from './running-turns.ts';
import type { Timing } from './timing.ts';

export interface AgentSettings {
  readonly instructions: string;
  readonly maxSteps: number;
  readonly contextBudget: number | undefined;
  readonly limits: PendingLimits;
}

/** What the stories of the bot are told with. */
export interface BotParts {
  readonly model: Model;
  readonly agent: () => AgentSettings;
  readonly toolbox: Toolbox;
  readonly store: Store;
  readonly client: WebClient;
  readonly directory: Directory;
  readonly brake: PendingBrake;
  readonly callbacks: CallbackUrls;
  readonly turns: RunningTurns;
  readonly timing: Timing;
  readonly logger: Logger;
}
