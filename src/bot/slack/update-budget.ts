import type { Logger } from 'pino';
import type { UpdateCounter } from '../../store/port/workspace.ts';

/** The window in which updates are counted. */
export const UPDATE_WINDOW_MS = 30_000;
/** Slack allows about 50 updates a minute in a workspace. Progress uses a share of them, and stops when few are left for decisions. */
const PROGRESS_PER_WINDOW = 10;
const UPDATES_PER_WINDOW = 20;

/** Counts the updates of messages in the workspace, over all processes. Progress waits while they are many; a decided card does not. */
export class UpdateBudget {
  readonly #counter: UpdateCounter;
  readonly #logger: Logger;

  constructor(counter: UpdateCounter, logger: Logger) {
    this.#counter = counter;
    this.#logger = logger;
  }

  /** Counts an update; nobody waits for it. */
  count(): void {
    this.#counter.add('updates').catch((err: unknown) => this.#logger.debug({ err }, 'update not counted'));
  }

  /** Takes one update for progress, if one is left. Without the count there is none: progress can wait. */
  async takeProgress(): Promise<boolean> {
    try {
      const { updates, progress } = await this.#counter.add('progress');
      return progress <= PROGRESS_PER_WINDOW && updates < UPDATES_PER_WINDOW;
    } catch (err) {
      this.#logger.debug({ err }, 'progress not counted');
      return false;
    }
  }
}
