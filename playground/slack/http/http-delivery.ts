import type { Attempt, AttemptAnswer, Delivery, MissReason, Transport } from '../delivery/delivery.ts';
import type { Timings } from '../limits.ts';
import { isObject } from '../state/normalize-blocks.ts';
import type { InstalledApp, JsonObject } from '../state/types.ts';
import { postRequest } from './post-request.ts';
import { buildRequest, signRequest } from './sign-request.ts';

const RETRY_REASONS: Readonly<Record<MissReason, string>> = {
  timeout: 'http_timeout',
  no_connection: 'connection_failed',
  http_error: 'http_error',
};

/** Delivers as signed HTTP requests to the app's request URL; anything but a 2xx in time is a miss. */
export class HttpDelivery implements Transport {
  readonly #app: InstalledApp;
  readonly #timings: Timings;

  constructor(options: { app: InstalledApp; timings: Timings }) {
    this.#app = options.app;
    this.#timings = options.timings;
  }

  async send(delivery: Delivery, attempt: Attempt): Promise<AttemptAnswer> {
    const { requestUrl, signingSecret } = this.#app;
    if (requestUrl === undefined) return { kind: 'missed', reason: 'no_connection', isFinal: false };
    const request = signRequest(buildRequest(requestUrl, delivery), signingSecret);
    if (attempt.retryReason !== undefined) {
      request.headers['x-slack-retry-num'] = String(attempt.retryAttempt);
      request.headers['x-slack-retry-reason'] = RETRY_REASONS[attempt.retryReason];
    }
    attempt.request = request;
    const answer = await postRequest(request, this.#timings.acknowledgement);
    if (answer.kind === 'missed') return { ...answer, isFinal: false };
    attempt.status = answer.status;
    if (answer.status < 200 || answer.status > 299) {
      const isFinal = answer.headers['x-slack-no-retry'] === '1';
      return { kind: 'missed', reason: 'http_error', isFinal };
    }
    attempt.acknowledgedAt = Date.now();
    return { kind: 'answered', payload: payloadOf(answer.body) };
  }

  async stop(): Promise<void> {}
}

/** Reads the app's answer: a JSON object, the text of a message, or nothing. */
function payloadOf(body: string): JsonObject {
  if (body === '') return {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (isObject(parsed)) return parsed;
  } catch {
    return { text: body };
  }
  return { text: body };
}
