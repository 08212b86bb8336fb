import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Model } from '../agent/model.ts';
import type { Tool } from '../agent/tool.ts';
import type { PolicySnapshot, Store } from '../store/port.ts';

/** What the stories of the bot are told with. */
export interface BotParts {
  readonly model: Model;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Who signs what the agent may not do by itself. */
  readonly policy: PolicySnapshot;
  readonly store: Store;
  readonly client: WebClient;
  readonly logger: Logger;
}
