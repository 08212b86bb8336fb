import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { showLabel } from '../cards/show-text.ts';
import type { SlackThread } from '../thread.ts';

/** The lifecycle of a thread on Slack's agent surface. */
export type SessionStatus = 'active' | 'processing' | 'suspended' | 'closed';

const LONGEST_LINE = 100;

/** Shows in Slack what the agent is doing in a thread, in the order told. Decoration only: a failure is noted and harms nothing. */
export class Session {
  readonly #client: WebClient;
  readonly #thread: SlackThread;
  readonly #logger: Logger;
  #lastWords = '';
  #lastCall = Promise.resolve();

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
        status: words === '' ? '' : showLabel(words, LONGEST_LINE),
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

  /** Takes the line away and leaves the session as it is between two turns. */
  async ends(status: 'active' | 'suspended'): Promise<void> {
    await this.says('');
    await this.is(status);
  }

  /** One call after the other: Slack shows what arrives last. */
  #quietly(call: () => Promise<unknown>): Promise<void> {
    this.#lastCall = this.#lastCall.then(call).then(
      () => {},
      (err) => this.#logger.debug({ err }, 'a status was not shown'),
    );
    return this.#lastCall;
  }
}
