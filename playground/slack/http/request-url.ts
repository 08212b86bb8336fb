import type { Delivery, SentRequest } from '../delivery/delivery.ts';
import { makeSecret } from '../ids.ts';
import type { Timings } from '../limits.ts';
import { isObject } from '../state/normalize-blocks.ts';
import type { InstalledApp } from '../state/types.ts';
import { type PostAnswer, postRequest } from './post-request.ts';
import { buildForm, buildRequest, type RequestContent, signRequest } from './sign-request.ts';

/** Ways in which a request differs from Slack's. */
export type Forgery = 'unsigned' | 'wrong-secret' | 'tampered' | 'stale' | 'future';

/** The app's answer to a request made on demand. */
export type RawAnswer = Extract<PostAnswer, { kind: 'response' }>;

const TEN_MINUTES = 600;

/** The request URL of an app, with everything that can be sent there outside the ordinary deliveries. */
export class RequestUrl {
  readonly #app: InstalledApp;
  readonly #timings: Timings;

  constructor(app: InstalledApp, timings: Timings) {
    this.#app = app;
    this.#timings = timings;
  }

  /** Sets the URL once the app has returned the challenge, as in the app's settings. */
  async change(url: string): Promise<void> {
    const challenge = makeSecret(20);
    const payload = { token: this.#app.verificationToken, challenge, type: 'url_verification' };
    const request = buildRequest(url, { type: 'events_api', payload });
    const { status, body } = await this.#post(signRequest(request, this.#app.signingSecret));
    if (status !== 200 || challengeIn(body) !== challenge) {
      throw new Error(`${url} answered the challenge with ${status} ${body}; it must return the challenge.`);
    }
    this.#app.requestUrl = url;
  }

  async forge(forgery: Forgery, content: RequestContent): Promise<RawAnswer> {
    return await this.#post(this.#forged(forgery, buildRequest(this.#address(), content)));
  }

  /** Sends the last request of a delivery again, with its old signature. */
  async replay(delivery: Delivery): Promise<RawAnswer> {
    const request = delivery.attempts.at(-1)?.request;
    if (request === undefined) throw new Error('This was not delivered over HTTP, so it cannot be replayed.');
    return await this.#post(request);
  }

  /** Sends Slack's unsigned certificate check. */
  async checkSsl(): Promise<RawAnswer> {
    const form = { ssl_check: '1', token: this.#app.verificationToken };
    return await this.#post(buildForm(this.#address(), form));
  }

  #forged(forgery: Forgery, request: SentRequest): SentRequest {
    const { signingSecret } = this.#app;
    const now = Math.floor(Date.now() / 1_000);
    switch (forgery) {
      case 'unsigned':
        return request;
      case 'wrong-secret':
        return signRequest(request, makeSecret());
      case 'tampered':
        return { ...signRequest(request, signingSecret), body: `${request.body} ` };
      case 'stale':
        return signRequest(request, signingSecret, now - TEN_MINUTES);
      case 'future':
        return signRequest(request, signingSecret, now + TEN_MINUTES);
    }
  }

  #address(): string {
    if (this.#app.requestUrl === undefined) throw new Error('The app has no request URL to send this to.');
    return this.#app.requestUrl;
  }

  async #post(request: SentRequest): Promise<RawAnswer> {
    const answer = await postRequest(request, this.#timings.acknowledgement);
    if (answer.kind === 'missed') throw new Error(`${request.url} did not answer: ${answer.reason}.`);
    return answer;
  }
}

function challengeIn(body: string): unknown {
  try {
    const parsed: unknown = JSON.parse(body);
    return isObject(parsed) ? parsed.challenge : body;
  } catch {
    return body;
  }
}
