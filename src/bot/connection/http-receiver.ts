import type { IncomingHttpHeaders } from 'node:http';
import type { App, Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import { checkSignature, SIGNATURE_LIFE_MS } from './check-signature.ts';
import { type HttpAnswer, jsonAnswer, refusal } from './http-answer.ts';
import { isCertificateCheck, parseSlackBody, type SlackBody } from './parse-slack-body.ts';
import { processHeld } from './process-held.ts';
import { RunningWork } from './running-work.ts';

/** Takes a key the first time it is shown, and refuses it from then on until its time is over. */
export type Once = (key: string, ttlMs: number) => Promise<boolean>;

/** A request as it came, with its exact bytes. */
export interface SlackRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface HttpReceiverOptions {
  readonly signingSecret: string;
  readonly once: Once;
  readonly logger: Logger;
}

const STOP_MS = 5_000;
const EMPTY: HttpAnswer = { status: 200, body: '' };

/** Hands Bolt what Slack posts; a request that is not signed, not of now or not the first of its kind reaches no listener. */
export class HttpReceiver implements Receiver {
  readonly #options: HttpReceiverOptions;
  readonly #work = new RunningWork();
  #app: App | undefined;
  #isOpen = false;

  constructor(options: HttpReceiverOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  init(app: App): void {
    this.#app = app;
  }

  async start(): Promise<void> {
    this.#isOpen = true;
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.#work.idle(STOP_MS);
  }

  /** The answer to a request; it is given as soon as the listener acknowledges. */
  async receive({ headers, body }: SlackRequest): Promise<HttpAnswer> {
    const { signingSecret, once, logger } = this.#options;
    const contentType = headers['content-type'];
    const text = body.toString('utf8');
    if (isCertificateCheck(contentType, text)) return EMPTY;
    const checked = checkSignature(signingSecret, headers, body);
    if (!checked.ok) {
      logger.warn({ problem: checked.problem }, 'a request was refused');
      return refusal(401, checked.problem);
    }
    if (!this.#isOpen) return refusal(503, 'The bot is not connected to Slack now.');
    const parsed = parseSlackBody(contentType, text);
    if (!(await once(`slack-request:${checked.signature}${tryOf(parsed, headers)}`, SIGNATURE_LIFE_MS))) {
      logger.warn('a request was refused that had been taken before');
      return refusal(401, 'This very request was taken before.');
    }
    if (parsed === undefined) return refusal(400, 'The body is neither JSON nor a form of Slack’s.');
    if (parsed.type === 'url_verification') return jsonAnswer(200, { challenge: parsed.challenge });
    return await this.#process(parsed, headers);
  }

  #process(body: SlackBody, headers: IncomingHttpHeaders): Promise<HttpAnswer> {
    const { logger } = this.#options;
    return new Promise((resolve) => {
      const ack = async (response?: unknown): Promise<void> => resolve(acknowledgement(response));
      const processed = processHeld(this.#app, { body, ack, ...retryOf(headers) });
      const ended = processed
        .catch((err: unknown) => logger.error({ err }, 'a listener failed'))
        // Too late for a request that was acknowledged, as it must be.
        .then(() => resolve(refusal(500, 'The bot could not take this; its log has the reason.')));
      this.#work.add(ended);
    });
  }
}

/**
 * An event that could not be taken comes again within the same second, with the same signature. The number of the try is not
 * signed, so only an event may differ by it: the record tells copies of what was said apart, and of nothing else.
 */
function tryOf(body: SlackBody | undefined, headers: IncomingHttpHeaders): string {
  const number = headers['x-slack-retry-num'];
  return body?.type === 'event_callback' && number !== undefined ? `/${number}` : '';
}

function acknowledgement(response: unknown): HttpAnswer {
  if (response === undefined || response === '') return EMPTY;
  if (typeof response === 'string')
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: response };
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(response),
  };
}

function retryOf(headers: IncomingHttpHeaders): { retryNum?: number; retryReason?: string } {
  const number = headers['x-slack-retry-num'];
  const reason = headers['x-slack-retry-reason'];
  return {
    ...(typeof number === 'string' && { retryNum: Number.parseInt(number, 10) }),
    ...(typeof reason === 'string' && { retryReason: reason }),
  };
}
