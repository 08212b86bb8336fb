import { type App, type Receiver, verifySlackRequest } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { RunningWork } from '../../agent/util/running-work.ts';
import { type HttpAnswer, jsonAnswer, refusal } from '../../http/http-answer.ts';
import type { HttpPart, HttpRequest } from '../../http/http-part.ts';
import { isReadable, processHeld } from './process-held.ts';

/** Returns true for the first use of a key, and false for any other until its time is over. */
export type Once = (key: string, ttlMs: number) => Promise<boolean>;

interface HttpReceiverOptions {
  readonly signingSecret: string;
  readonly once: Once;
  readonly logger: Logger;
}

const STOP_MS = 5_000;
/** Slack sends an event again unless it is told that this would change nothing. */
const UNREADABLE = refusal(400, 'The body is no payload of Slack that can be read.', {
  'x-slack-no-retry': '1',
});
const EMPTY: HttpAnswer = { status: 200, body: '' };

/** Passes Slack's requests to Bolt. A request that is unsigned, stale or replayed reaches no listener. */
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

  /** The address that Slack sends its requests to. */
  part(): HttpPart {
    const path = '/slack/events';
    return {
      paths: [path],
      open: async () => ({
        routes: [
          { method: 'POST', path, answer: (request) => this.#receive(request) },
          { method: 'GET', path, takesHead: true, answer: checkCertificate },
        ],
      }),
    };
  }

  /** Answers a request as soon as the listener acknowledges it. */
  async #receive({ headers, body }: HttpRequest): Promise<HttpAnswer> {
    const { signingSecret, once, logger } = this.#options;
    const contentType = headers['content-type'];
    const text = (await body()).toString('utf8');
    if (isCertificateCheck(contentType, text)) return EMPTY;
    const checked = checkSignature(signingSecret, headers, text);
    if (!checked.ok) {
      logger.warn({ problem: checked.problem }, 'request refused');
      return refusal(401, checked.problem);
    }
    if (!this.#isOpen) return refusal(503, 'The bot is not connected to Slack right now.');
    const parsed = parseSlackBody(contentType, text);
    if (!(await once(`slack-request:${checked.signature}${retryKey(parsed, headers)}`, SIGNATURE_LIFE_MS))) {
      logger.warn('replayed request refused');
      return refusal(401, 'This request was already received.');
    }
    if (parsed === undefined) return UNREADABLE;
    if (parsed.type === 'url_verification') return jsonAnswer(200, { challenge: parsed.challenge });
    if (!isReadable(parsed)) {
      logger.warn({ type: parsed.type }, 'unreadable payload');
      return UNREADABLE;
    }
    return await this.#process(parsed, headers);
  }

  #process(body: SlackBody, headers: HttpRequest['headers']): Promise<HttpAnswer> {
    const { logger } = this.#options;
    return new Promise((resolve) => {
      const ack = async (response?: unknown): Promise<void> => resolve(acknowledgement(response));
      const processed = processHeld(this.#app, { body, ack, ...retryOf(headers) }, logger);
      const ended = processed
        .catch((err: unknown) => logger.error({ err }, 'listener failed'))
        // Has no effect on a request that was acknowledged.
        .then(() => resolve(refusal(500, 'The bot could not process this; see its log.')));
      this.#work.add(ended);
    });
  }
}

/**
 * Slack may resend a failed event within the same second, with the same signature. The retry number is not signed, so only an event
 * may differ by it: the record recognizes copies of a message, and of nothing else.
 */
function retryKey(body: SlackBody | undefined, headers: HttpRequest['headers']): string {
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

function retryOf(headers: HttpRequest['headers']): { retryNum?: number; retryReason?: string } {
  const number = headers['x-slack-retry-num'];
  const reason = headers['x-slack-retry-reason'];
  return {
    ...(typeof number === 'string' && { retryNum: Number.parseInt(number, 10) }),
    ...(typeof reason === 'string' && { retryReason: reason }),
  };
}

const Body = z.record(z.string(), z.unknown());

/** A parsed request body of Slack. */
type SlackBody = z.infer<typeof Body>;

const MAX_SKEW_S = 300;

/** The time for which a signature could be replayed: five minutes in either direction, and some for the clocks. */
const SIGNATURE_LIFE_MS = 11 * 60_000;

/** The headers of a signed request. The signature has one exact form, so that a replay cannot be disguised as another request. */
const SignedHeaders = z.object({
  'x-slack-request-timestamp': z.string().regex(/^\d{1,12}$/),
  'x-slack-signature': z.string().regex(/^v0=[0-9a-f]{64}$/),
});

type SignatureCheck =
  | { readonly ok: true; readonly signature: string }
  | { readonly ok: false; readonly problem: string };

/** Checks that Slack signed this body within five minutes of now. Bolt checks the signature and the past, this checks the future. */
function checkSignature(
  signingSecret: string,
  headers: HttpRequest['headers'],
  body: string,
  now = Date.now(),
): SignatureCheck {
  const signed = SignedHeaders.safeParse(headers).data;
  if (signed === undefined) return { ok: false, problem: 'The request is not signed by Slack.' };
  const timestamp = Number(signed['x-slack-request-timestamp']);
  const signature = signed['x-slack-signature'];
  if (Math.abs(now / 1_000 - timestamp) > MAX_SKEW_S)
    return { ok: false, problem: 'The time of the request is more than five minutes from now.' };
  try {
    verifySlackRequest({
      signingSecret,
      body,
      headers: { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp },
      nowMilliseconds: now,
    });
  } catch {
    return { ok: false, problem: 'The signature of the request is wrong.' };
  }
  return { ok: true, signature };
}

/** Parses a body: JSON for an event, JSON in a form for a click, a form for a command; `undefined` for anything else. */
function parseSlackBody(contentType: string | undefined, body: string): SlackBody | undefined {
  try {
    if (!isForm(contentType)) return Body.parse(JSON.parse(body));
    const form = new URLSearchParams(body);
    const payload = form.get('payload');
    return payload === null ? Object.fromEntries(form) : Body.parse(JSON.parse(payload));
  } catch {
    return undefined;
  }
}

/** Slack may check the certificate by GET as well. */
function checkCertificate({ url }: HttpRequest): HttpAnswer {
  return url.searchParams.get('ssl_check') === '1' ? EMPTY : refusal(405, 'Use POST.', { allow: 'POST' });
}

/** Tells whether Slack only checks the certificate. Such a request is not signed, so nothing else in it is read. */
function isCertificateCheck(contentType: string | undefined, body: string): boolean {
  return isForm(contentType) && new URLSearchParams(body).get('ssl_check') === '1';
}

function isForm(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}
