import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { SlackThread } from '../thread.ts';

/** The lifecycle of a thread on Slack's agent surface. */
export type SessionStatus = 'active' | 'processing' | 'suspended' | 'closed';

/** Shows in Slack what the agent is doing in a thread. Decoration only: a failure is noted and harms nothing. */
export class Session {
  readonly #client: WebClient;
  readonly #thread: SlackThread;
  readonly #logger: Logger;
  #lastWords = '';

  constructor(client: WebClient, thread: SlackThread, logger: Logger) {
    this.#client = client;
    this.#thread = thread;
    this.#logger = logger;
  }

  /** The line under the thread: what goes on, or nothing when it is over. */
  async says(words: string): Promise<void> {
    if (words === this.#lastWords) return;
    this.#lastWords = words;
    const { channel, threadTs } = this.#thread;
    await this.#quietly(() =>
      this.#client.assistant.threads.setStatus({
        channel_id: channel,
        thread_ts: threadTs,
        status: words.slice(0, 100),
      }),
    );
  }

  async is(status: SessionStatus, initiator?: string): Promise<void> {
    const { channel, threadTs } = this.#thread;
    await this.#quietly(() =>
      this.#client.agents.sessions.setStatus({
        channel_id: channel,
        thread_ts: threadTs,
        status,
        ...(initiator !== undefined && { initiator_user_id: initiator }),
      }),
    );
  }

  async #quietly(call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (err) {
      this.#logger.debug({ err }, 'a status was not shown');
    }
  }
}
