import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import { tryParseJson } from '../../agent/json.ts';
import { AskView } from '../../door/ask-view.ts';
import { UsageError } from '../shared/command.ts';

/** The time in which the bot answers, beyond the time that it is asked to wait. */
const ANSWER_MS = 15_000;
const MAX_BACK_OFF_MS = 10_000;
const Problem = z.looseObject({ code: z.string(), detail: z.string() });
const IssuedToken = z.looseObject({ value: z.string().min(1) });

/** The door has answered that it will not do it. */
export class DoorRefusal extends Error {
  override readonly name = 'DoorRefusal';
  readonly code: string;

  constructor(code: string, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** The door cannot be reached, so that nobody knows whether it took the request. */
export class DoorUnreachable extends Error {
  override readonly name = 'DoorUnreachable';
}

export const DOOR_HELP = `Environment:
  COUNTERSIGN_URL       where the bot is reached, such as https://countersign.example.com
  COUNTERSIGN_KEY       the key of the caller; without it a job of GitHub Actions gets its own tokens
  COUNTERSIGN_AUDIENCE  the audience of those tokens (default: countersign)
`;

interface Sent {
  readonly body?: object;
  readonly waitS?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Speaks to the door of a bot as one caller. */
export class DoorClient {
  readonly #url: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(environment: NodeJS.ProcessEnv) {
    const { COUNTERSIGN_URL: url = '' } = environment;
    if (!URL.canParse(url)) throw new UsageError('COUNTERSIGN_URL is not set to the address of the bot');
    const { protocol, hostname } = new URL(url);
    const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
    if (protocol !== 'https:' && !(protocol === 'http:' && isHere))
      throw new UsageError('COUNTERSIGN_URL needs https: the key would travel in clear text');
    this.#url = url.replace(/\/$/, '');
    this.#environment = environment;
  }

  /** Sends one request about an ask. */
  async ask(method: string, path: string, { body, waitS = 0, headers, signal }: Sent = {}): Promise<AskView> {
    const response = await this.#fetch(`/v1/asks${path}${waitS > 0 ? `?wait=${waitS}` : ''}`, {
      method,
      headers: {
        authorization: `Bearer ${await this.#token()}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.any([
        AbortSignal.timeout(waitS * 1_000 + ANSWER_MS),
        ...(signal === undefined ? [] : [signal]),
      ]),
    });
    const { status, text } = response;
    const answer = tryParseJson(text);
    const view = status < 300 ? AskView.safeParse(answer).data : undefined;
    if (view !== undefined) return view;
    const problem = Problem.safeParse(answer).data;
    if (problem === undefined || status >= 500) throw new DoorUnreachable(`The bot answered ${status}`);
    throw new DoorRefusal(problem.code, problem.detail);
  }

  /** Repeats a request that may be sent twice until the door has answered it, for a limited time. */
  async persist<Value>(
    work: () => Promise<Value>,
    { forMs, signal }: { readonly forMs: number; readonly signal?: AbortSignal },
  ): Promise<Value> {
    const until = performance.now() + forMs;
    for (let pause = 200; ; pause = Math.min(2 * pause, MAX_BACK_OFF_MS)) {
      try {
        return await work();
      } catch (error) {
        const isWorthAnother = error instanceof DoorUnreachable && performance.now() + pause < until;
        if (!isWorthAnother || signal?.aborted === true) throw error;
        await sleep(pause, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const response = await fetch(`${this.#url}${path}`, init);
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      throw new DoorUnreachable(`The bot cannot be reached: ${describeError(cause)}`, { cause });
    }
  }

  /** Returns the key, or a new token of the CI job: each token is for one change. */
  async #token(): Promise<string> {
    const {
      COUNTERSIGN_KEY: key,
      COUNTERSIGN_AUDIENCE: audience = 'countersign',
      ACTIONS_ID_TOKEN_REQUEST_URL: url = '',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: token = '',
    } = this.#environment;
    if (key !== undefined && key !== '') return key;
    if (!URL.canParse(url) || token === '')
      throw new UsageError(
        'set COUNTERSIGN_KEY, or give the job of GitHub Actions "permissions: id-token: write"',
      );
    const address = new URL(url);
    address.searchParams.set('audience', audience);
    try {
      const response = await fetch(address, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      return IssuedToken.parse(await response.json()).value;
    } catch (cause) {
      throw new DoorUnreachable('GitHub has issued no token', { cause });
    }
  }
}
