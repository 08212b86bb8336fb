import type { Logger } from 'pino';
import type { UpdateCounter } from '../../store/port/workspace.ts';

/** The window in which updates are counted. */
export const UPDATE_WINDOW_MS = 30_000;
/** Slack allows about 50 updates a minute in a workspace. Progress uses a share of them, and stops when few are left for decisions. */
const PROGRESS_PER_WINDOW = 10;
const UPDATES_PER_WINDOW = 20;
/** The updates for cards that show no new decision, such as a freeze; the others are left for decisions. */
const ROUTINE_PER_WINDOW = 12;

/** Slack takes a few responses to a click, for half an hour. */
const MOST_RESPONSES = 4;
const RESPONSES_MS = 25 * 60_000;
const MOST_CLICKS = 1_000;

/** Replaces a clicked message through the click's `response_url`, which no limit of updates counts. */
export type ReplaceMessage = (message: object) => Promise<unknown>;

/**
 * Counts the updates of messages in the workspace, over all processes. Progress and routine wait while they are many; a decided card
 * does not. While Slack refuses updates, a message that was clicked here is replaced as the response to its click.
 */
export class UpdateBudget {
  readonly #counter: UpdateCounter;
  readonly #logger: Logger;
  readonly #clicks = new Map<string, { replace: ReplaceMessage; uses: number; until: number }>();
  #refusedUntil = 0;

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

  /** Takes one update for a card that shows no decision, if one is left; it counts at once. */
  async takeRoutine(): Promise<boolean> {
    if (this.refusedMs() > 0) return false;
    try {
      return (await this.#counter.add('updates')).updates <= ROUTINE_PER_WINDOW;
    } catch (err) {
      this.#logger.debug({ err }, 'update not counted');
      return true;
    }
  }

  /** Notes that Slack refuses updates for a time. */
  refused(forMs: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil, Date.now() + forMs);
  }

  /** Returns for how long Slack refuses updates; 0 if it takes them. */
  refusedMs(): number {
    return Math.max(0, this.#refusedUntil - Date.now());
  }

  /** Keeps the way to replace a message that was clicked. */
  clicked(message: { readonly channel: string; readonly ts: string }, replace: ReplaceMessage): void {
    const name = nameOf(message);
    this.#clicks.delete(name);
    this.#clicks.set(name, { replace, uses: 0, until: Date.now() + RESPONSES_MS });
    const [oldest] = this.#clicks.keys();
    if (this.#clicks.size > MOST_CLICKS && oldest !== undefined) this.#clicks.delete(oldest);
  }

  /** Returns the way to replace a message that was clicked a short time ago; each use counts. */
  replacing(message: { readonly channel: string; readonly ts: string }): ReplaceMessage | undefined {
    const click = this.#clicks.get(nameOf(message));
    if (click === undefined || click.uses >= MOST_RESPONSES || Date.now() > click.until) return undefined;
    click.uses += 1;
    return click.replace;
  }
}

function nameOf({ channel, ts }: { readonly channel: string; readonly ts: string }): string {
  return `${channel}:${ts}`;
}
