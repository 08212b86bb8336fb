import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { limits } from '../slack/limits.ts';
import type { SlackThread } from '../slack/thread.ts';
import { addressing } from './addressing.ts';
import { closeFence, sanitizableLength, sanitizeMarkdown } from './sanitize-markdown.ts';

/** A reply that is complete within this time is not streamed. */
const FIRST_MS = 250;
/** The interval between two calls to Slack for one reply. */
const PACE_MS = 700;

/** A posted message that shows the first `sent` characters of a reply. */
export interface PostedReply {
  readonly ts: string;
  readonly sent: number;
}

export interface StreamRecipient {
  readonly userId: string;
  readonly teamId: string;
}

export interface StreamOptions {
  /** The people whom the reply mentions at its beginning. */
  readonly addressees?: readonly string[];
  /** Is called when the message is there. */
  readonly onStart?: (ts: string) => Promise<void>;
}

/** Streams a reply while it is written. Only a preview: the record delivers the whole text afterwards, into the same message. */
export class ReplyStream {
  readonly #client: WebClient;
  readonly #thread: SlackThread;
  readonly #recipient: () => Promise<StreamRecipient>;
  readonly #logger: Logger;
  readonly #options: StreamOptions;
  #text = '';
  #isNewParagraph = false;
  #sent = 0;
  /** The length of what stands for the first `sent` characters. */
  #shown = 0;
  #ts: string | undefined;
  #startedAt = 0;
  #broken = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    client: WebClient,
    thread: SlackThread,
    recipient: () => Promise<StreamRecipient>,
    logger: Logger,
    options: StreamOptions = {},
  ) {
    this.#client = client;
    this.#thread = thread;
    this.#recipient = recipient;
    this.#logger = logger;
    this.#options = options;
  }

  /** The whole text, shown or not. */
  get text(): string {
    return this.#text;
  }

  push(delta: string): void {
    if (this.#isNewParagraph && this.#text !== '') this.#text = `${closeFence(this.#text)}\n\n`;
    this.#isNewParagraph = false;
    this.#text += delta;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#broken || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#flushing ??= this.#flush().finally(() => {
          this.#flushing = undefined;
        });
      },
      this.#ts === undefined ? FIRST_MS : PACE_MS,
    );
  }

  /** Starts a new paragraph, because the model continues after its tools have run. */
  pause(): void {
    this.#isNewParagraph = true;
  }

  /** Stops sending and returns the posted message, which the delivery completes; further text starts it again. */
  async end(): Promise<PostedReply | undefined> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flushing;
    return this.#ts === undefined ? undefined : { ts: this.#ts, sent: this.#sent };
  }

  async #flush(): Promise<void> {
    const until = sanitizableLength(this.#text);
    if (until <= this.#sent || until > limits.replyText) return;
    const shown = sanitizeMarkdown(this.#text, until);
    // Sanitizing can make a text longer than one message holds.
    if (shown.length > limits.streamedText) return;
    const markdown_text = shown.slice(this.#shown);
    if (shown.trim() === '') return;
    try {
      if (this.#ts === undefined) {
        const { channel, threadTs } = this.#thread;
        const { userId, teamId } = await this.#recipient();
        const started = await this.#client.chat.startStream({
          channel,
          thread_ts: threadTs,
          markdown_text: `${addressing(this.#options.addressees ?? [], this.#text)}${markdown_text}`,
          recipient_user_id: userId,
          recipient_team_id: teamId,
        });
        this.#ts = started.ts;
        this.#startedAt = Date.now();
        if (started.ts !== undefined) await this.#options.onStart?.(started.ts);
      } else {
        await this.#client.chat.appendStream({ channel: this.#thread.channel, ts: this.#ts, markdown_text });
      }
      this.#sent = until;
      this.#shown = shown.length;
      if (Date.now() - this.#startedAt > limits.streamMs) this.#broken = true;
    } catch (err) {
      // Without a stream the reply is delivered as a whole.
      this.#broken = true;
      this.#logger.debug({ err }, 'reply not streamed');
    }
  }
}
