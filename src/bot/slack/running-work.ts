import type { App, ReceiverEvent } from '@slack/bolt';
import type { Logger } from 'pino';

/** The running work, so that a shutdown can wait for it. */
export class RunningWork {
  readonly #running = new Set<Promise<unknown>>();

  /** Adds work until it has ended. */
  add(work: Promise<unknown>): void {
    const counted = work
      .catch(() => {})
      .finally(() => {
        this.#running.delete(counted);
      });
    this.#running.add(counted);
  }

  /** Resolves when no work is left, or after the time limit. */
  async idle(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (this.#running.size > 0 && Date.now() < deadline) {
      await withTimeout(deadline - Date.now(), Promise.all(this.#running));
    }
  }
}

/** Returns the value of a promise, or `undefined` after the time limit. */
export async function withTimeout<Value>(
  timeoutMs: number,
  work: Promise<Value>,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Passes a payload to Bolt, and holds back Bolt's early acknowledgement of an event until every listener is done. A process that dies
 * or fails before that does not acknowledge, so that Slack sends the event again. Other payloads are acknowledged by their listener;
 * one that no listener owns is acknowledged here, because sending it again would change nothing.
 */
export async function processHeld(app: App | undefined, event: ReceiverEvent, logger: Logger): Promise<void> {
  const { type } = event.body;
  if (type === 'app_rate_limited') {
    const { team_id: team, minute_rate_limited: minute } = event.body;
    logger.warn({ team, minute }, 'Slack drops events: rate limit of events reached');
    await event.ack();
    return;
  }
  if (type === 'event_callback') {
    await app?.processEvent({ ...event, ack: async () => {} });
    await event.ack();
    return;
  }
  let isAcknowledged = false;
  await app?.processEvent({
    ...event,
    ack: async (response) => {
      isAcknowledged = true;
      await event.ack(response);
    },
  });
  if (isAcknowledged) return;
  logger.debug({ type }, 'payload without a listener');
  await event.ack();
}
