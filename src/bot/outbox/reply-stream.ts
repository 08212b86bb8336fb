import type { AnyChunk } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { ClaimedTurn, OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { limits } from '../slack/limits.ts';
import { parseThreadId, type SlackThread } from '../slack/thread.ts';
import { type ReplyPart, replyParts } from '../views/reply-parts.ts';
import { closeFence, openFenceIn, sanitizableLength, sanitizeMarkdown } from '../views/sanitize-markdown.ts';
import { statusTexts } from '../views/texts/replies.ts';
import { chunksOf, withTables } from './reply-content.ts';

/** A reply that is complete within this time is not streamed. */
const FIRST_MS = 250;
/** The interval between two calls to Slack for one reply. */
const PACE_MS = 700;
/** The steps of a turn that ends within this time are not shown. */
const STEPS_AFTER_MS = 4_000;

/** A posted message that shows the first `sent` characters of a reply. */
export interface PostedReply {
  readonly ts: string;
  readonly sent: number;
}

/** One step of a turn, as a task of Slack's plan. */
export interface Step {
  readonly id: string;
  readonly title: string;
  readonly status: 'pending' | 'in_progress' | 'complete' | 'error';
  /** Shown below the title; Slack appends it to the details of earlier updates. */
  readonly details?: string;
}

export interface StreamRecipient {
  readonly userId: string;
  readonly teamId: string;
}

interface StreamOptions {
  /** The people whom the reply mentions at its beginning. */
  readonly addressees?: readonly string[];
  /** Is called before the message is started. */
  readonly beforeStart?: () => Promise<void>;
  /** Is called when the message is there. */
  readonly onStart?: (ts: string) => Promise<void>;
}

/**
 * Streams a reply while it is written, and above it the steps of a turn that takes long. Only a preview: the record delivers the whole
 * text afterwards, into the same message.
 */
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
  readonly #createdAt = Date.now();
  #stepsTimer: NodeJS.Timeout | undefined;
  /** The steps that changed since the last call. */
  #steps = new Map<string, Step>();
  readonly #shownSteps = new Set<string>();

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
    this.#text = this.#paragraphs();
    this.#isNewParagraph = false;
    this.#text += delta;
    this.#schedule();
  }

  /** Shows a step, or its change, if the turn has lasted long enough. */
  setStep(step: Step): void {
    this.#steps.set(step.id, step);
    const waitMs = this.#createdAt + STEPS_AFTER_MS - Date.now();
    if (waitMs <= 0) this.#schedule();
    else this.#stepsTimer ??= setTimeout(() => this.#schedule(), waitMs);
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

  /** Ends the paragraph, because the tools run and the model continues after them. */
  pause(): void {
    this.#isNewParagraph = true;
  }

  /** Returns the text with the end of its last paragraph, if that has ended. */
  #paragraphs(): string {
    if (!this.#isNewParagraph || this.#text === '') return this.#text;
    return `${closeFence(this.#text)}\n\n`;
  }

  /** Stops sending and returns the posted message, which the delivery completes; further text starts it again. */
  async end(): Promise<PostedReply | undefined> {
    clearTimeout(this.#timer);
    clearTimeout(this.#stepsTimer);
    this.#timer = undefined;
    this.#stepsTimer = undefined;
    await this.#flushing;
    if (this.#ts !== undefined && this.#steps.size > 0 && !this.#broken) {
      // The rest of the text has to stand before steps that are new.
      this.#isNewParagraph = true;
      await this.#flush();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      if (!this.#broken) await this.#send([], { after: this.#takeSteps() });
    }
    return this.#ts === undefined ? undefined : { ts: this.#ts, sent: this.#sent };
  }

  async #flush(): Promise<void> {
    const text = this.#paragraphs();
    const ready = Math.min(sanitizableLength(text), this.#text.length);
    // Slack begins a new paragraph behind a step, and none may cut a sentence.
    const isCut = this.#hasNewSteps();
    const end = isCut ? paragraphEnd(text, ready, this.#isNewParagraph) : ready;
    const until = end < this.#sent ? ready : end;
    const shown = until > limits.replyText ? '' : sanitizeMarkdown(this.#text, until);
    // Sanitizing can make a text longer than one message holds.
    const isNew = until > this.#sent && shown.length <= limits.streamedText && shown.trim() !== '';
    const steps = end < this.#sent ? [] : this.#takeSteps();
    const lead = this.#shown === 0 ? addressing(this.#options.addressees ?? [], this.#text) : '';
    const parts = isNew ? [...(lead === '' ? [] : [{ text: lead }]), ...replyParts(shown, this.#shown)] : [];
    await this.#send(parts, isCut ? { after: steps } : { before: steps });
    if (this.#broken || !isNew) return;
    this.#sent = until;
    this.#shown = shown.length;
    if (until < ready) this.#schedule();
  }

  /** Tells whether steps wait that Slack has not seen, which take a place of their own; changes of others do not. */
  #hasNewSteps(): boolean {
    return this.#areStepsShown() && [...this.#steps.keys()].some((id) => !this.#shownSteps.has(id));
  }

  #areStepsShown(): boolean {
    return this.#steps.size > 0 && Date.now() - this.#createdAt >= STEPS_AFTER_MS;
  }

  /** Takes the steps that are to be sent, as chunks. */
  #takeSteps(): AnyChunk[] {
    if (!this.#areStepsShown()) return [];
    const steps = [...this.#steps.values()];
    const isFirst = this.#shownSteps.size === 0;
    this.#steps = new Map();
    for (const { id } of steps) this.#shownSteps.add(id);
    return [
      ...(isFirst ? [{ type: 'plan_update' as const, title: statusTexts.steps }] : []),
      ...steps.map((step) => ({ type: 'task_update' as const, ...step })),
    ];
  }

  async #send(
    parts: readonly ReplyPart[],
    {
      before = [],
      after = [],
    }: { readonly before?: readonly AnyChunk[]; readonly after?: readonly AnyChunk[] },
  ): Promise<void> {
    if (parts.length + before.length + after.length === 0) return;
    try {
      await withTables(parts, (content) => this.#sendChunks([...before, ...chunksOf(content), ...after]));
      if (Date.now() - this.#startedAt > limits.streamMs) this.#broken = true;
    } catch (err) {
      // Without a stream the reply is delivered as a whole.
      this.#broken = true;
      this.#logger.debug({ err }, 'reply not streamed');
    }
  }

  async #sendChunks(chunks: AnyChunk[]): Promise<void> {
    const { channel, threadTs } = this.#thread;
    if (this.#ts !== undefined) {
      await this.#client.chat.appendStream({ channel, ts: this.#ts, chunks });
      return;
    }
    const { userId, teamId } = await this.#recipient();
    await this.#options.beforeStart?.();
    const started = await this.#client.chat.startStream({
      channel,
      thread_ts: threadTs,
      chunks,
      task_display_mode: 'plan',
      recipient_user_id: userId,
      recipient_team_id: teamId,
    });
    this.#ts = started.ts;
    this.#startedAt = Date.now();
    if (started.ts !== undefined) await this.#options.onStart?.(started.ts);
  }
}

/** Returns where the last paragraph outside code ends that is ready to be shown. */
function paragraphEnd(text: string, ready: number, isEnded: boolean): number {
  if (ready === 0 || (isEnded && /^\n*$/.test(text.slice(ready)))) return ready;
  const end = text.lastIndexOf('\n\n', ready - 2) + 2;
  return end < 2 || openFenceIn(text.slice(0, end)) !== undefined ? 0 : end;
}

/** The kind of an outbox row that marks a streamed message as interrupted. */
export const CUT_STREAM = 'cut-stream';

/** The most that this clock and Slack's may differ. */
const SKEW_MS = 60_000;

/**
 * Watches over a streamed message from before it is started until the end of its turn is on record. A row of the outbox says that the
 * message was interrupted; this process holds it, renews it while the turn runs, and removes it in the end. If the process dies, another
 * one sends the row. A row without a `ts` stands for a stream whose start was not answered: it was started in the window of time, or not
 * at all. The window ends before another process can have claimed the thread, so the stream of a later turn is never in it.
 */
export class StreamWatch {
  readonly #context: Pick<BotContext, 'store' | 'timing' | 'logger'>;
  readonly #turn: Pick<ClaimedTurn, 'threadId' | 'token'>;
  #ts: string | undefined;
  #window = { from: 0, until: 0 };
  #held: (OutboxItem & { readonly kind: 'row' }) | undefined;
  #renewals = 0;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(
    context: Pick<BotContext, 'store' | 'timing' | 'logger'>,
    turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  ) {
    this.#context = context;
    this.#turn = turn;
  }

  /** Records that a stream is about to be started. */
  async prepare(): Promise<void> {
    const now = Date.now();
    this.#window = { from: now - SKEW_MS, until: now + this.#context.timing.leaseMs / 2 };
    this.#timer ??= setInterval(() => void this.#renew(), this.#context.timing.claimMs / 3);
    this.#timer.unref();
    await this.#renew();
  }

  /** Records the message of the stream. */
  async begin(ts: string): Promise<void> {
    this.#ts = ts;
    await this.#renew();
  }

  /** Removes the row; the message is complete, or its delivery is on record. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
    if (this.#held !== undefined) await this.#context.store.done(this.#held);
  }

  /** Stops renewing without removing the row, because the turn has not been recorded. */
  leave(): void {
    clearInterval(this.#timer);
  }

  /** Holds a new row, and then removes the one before it, so that there is always one. */
  #renew(): Promise<void> {
    this.#last = this.#last.then(async () => {
      const { store, timing, logger } = this.#context;
      const { threadId, token } = this.#turn;
      const before = this.#held;
      this.#renewals += 1;
      const id = `${threadId}/${token}/stream-${this.#renewals}`;
      try {
        const place = this.#ts === undefined ? this.#window : { ts: this.#ts };
        const body = { kind: CUT_STREAM, ...parseThreadId(threadId), ...place, text: '' };
        this.#held = await store.enqueueOutbox(threadId, { id, body }, timing.claimMs);
        if (before !== undefined) await store.done(before);
      } catch (err) {
        logger.debug({ threadId, err }, 'stream not watched');
      }
    });
    return this.#last;
  }
}

/** Writes the mentions at the beginning of a reply; a text that begins with Markdown gets a paragraph of its own. */
export function addressing(addressees: readonly string[], text: string): string {
  if (addressees.length === 0) return '';
  const mentions = addressees.map((id) => `<@${id}>`).join(' ');
  return /^[\p{L}\p{N}("']/u.test(text) && !/^\d+[.)]/.test(text) ? `${mentions} ` : `${mentions}\n\n`;
}
