import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { SlackThread } from '../thread.ts';
import { harmlessMarkdown, settledLength } from './harmless-markdown.ts';
import { LONGEST_MESSAGE } from './longest-message.ts';

/** Between two calls to Slack for one reply. */
const PACE_MS = 700;
/** Slack ends a stream by itself after about five minutes; ours ends earlier and the rest is an update. */
const LONGEST_STREAM_MS = 240_000;

/** A message of ours that stands in the thread and holds the first `sent` characters of the text. */
export interface Standing {
  readonly ts: string;
  readonly sent: number;
}

export interface StreamRecipient {
  readonly userId: string;
  readonly teamId: string;
}

/**
 * Shows a reply while it is being written. It is only for the eye: whatever goes wrong here, the whole text is delivered from
 * the record afterwards, into the message that stands, if one does.
 */
export class ReplyStream {
  readonly #client: WebClient;
  readonly #thread: SlackThread;
  readonly #recipient: StreamRecipient;
  readonly #logger: Logger;
  #text = '';
  #isNewParagraph = false;
  #sent = 0;
  #ts: string | undefined;
  #startedAt = 0;
  #isOpen = false;
  #broken = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Nothing is shown before it opens, and nothing at all if it does not. */
  constructor(
    client: WebClient,
    thread: SlackThread,
    recipient: StreamRecipient,
    logger: Logger,
    opens: Promise<unknown>,
  ) {
    this.#client = client;
    this.#thread = thread;
    this.#recipient = recipient;
    this.#logger = logger;
    opens.then(
      () => {
        this.#isOpen = true;
        if (this.#text !== '') this.#schedule();
      },
      () => {
        this.#broken = true;
      },
    );
  }

  /** Everything that was said, shown or not. */
  get text(): string {
    return this.#text;
  }

  push(delta: string): void {
    this.#text += this.#isNewParagraph && this.#text !== '' ? `\n\n${delta}` : delta;
    this.#isNewParagraph = false;
    if (this.#isOpen) this.#schedule();
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
      this.#ts === undefined ? 0 : PACE_MS,
    );
  }

  /** Begins a new paragraph: the model speaks again after its tools have run. */
  pause(): void {
    this.#isNewParagraph = true;
  }

  /** Ends what is shown and gives the message that stands; the record's delivery puts the rest of the text there. */
  async end(): Promise<Standing | undefined> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flushing;
    return this.#ts === undefined ? undefined : { ts: this.#ts, sent: this.#sent };
  }

  async #flush(): Promise<void> {
    const until = settledLength(this.#text);
    if (until <= this.#sent || until > LONGEST_MESSAGE) return;
    const markdown_text = harmlessMarkdown(this.#text.slice(this.#sent, until));
    try {
      if (this.#ts === undefined) {
        const { channel, threadTs } = this.#thread;
        const started = await this.#client.chat.startStream({
          channel,
          thread_ts: threadTs,
          markdown_text,
          recipient_user_id: this.#recipient.userId,
          recipient_team_id: this.#recipient.teamId,
        });
        this.#ts = started.ts;
        this.#startedAt = Date.now();
      } else {
        await this.#client.chat.appendStream({ channel: this.#thread.channel, ts: this.#ts, markdown_text });
      }
      this.#sent = until;
      if (Date.now() - this.#startedAt > LONGEST_STREAM_MS) this.#broken = true;
    } catch (err) {
      // Where streaming is refused the reply simply comes whole.
      this.#broken = true;
      this.#logger.debug({ err }, 'a reply is not streamed');
    }
  }
}
