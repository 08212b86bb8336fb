import { RefusedError, UnreachableError } from './errors.ts';
import {
  type Ask,
  type AskRequest,
  isAsk,
  isEnded,
  isListOfTools,
  isRun,
  isUndecided,
  type ListedTool,
  type Plan,
  type Report,
  type Run,
  type RunRequest,
} from './views.ts';

/** The time in which the bot answers, beyond the time that it is asked to wait. */
const ANSWER_MS = 15_000;
const LONGEST_WAIT_S = 60;
const MAX_BACK_OFF_MS = 10_000;
/** A bot that does not wait as it was asked to is asked again after this time. */
const UNWAITED_MS = 5_000;
/** A bot that is being deployed is back within this time. */
const PATIENCE_MS = 300_000;

export interface ClientOptions {
  /** The address of the bot, such as https://countersign.example.com. Only this machine may be reached without https. */
  readonly url: string;
  /** The key of the caller, or a function that gets a token for each request. */
  readonly key: string | (() => Promise<string>);
}

/** Options of a request that asks for something. */
export interface Asking {
  /** The same key is the same request, so that it can be sent again. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

export interface Waiting {
  readonly signal?: AbortSignal;
}

/** Options of work that is tried again. */
export interface Patience {
  readonly forMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait, with the time that the failures have lasted. */
  readonly onFailure?: (error: UnreachableError, sinceMs: number) => Promise<void>;
}

type Guard<View> = (answer: object) => answer is object & View;

interface Sent {
  readonly body?: unknown;
  readonly waitS?: number;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Read<View> {
  readonly view: View;
  readonly retryAfterS: number | undefined;
}

/** Speaks to a bot as one of its callers, over `fetch` alone. */
export class CountersignClient {
  readonly #url: string;
  readonly #key: () => Promise<string>;

  constructor({ url, key }: ClientOptions) {
    if (!URL.canParse(url)) throw new TypeError(`"${url}" is not the address of a bot`);
    const { protocol, hostname } = new URL(url);
    const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
    if (protocol !== 'https:' && !(protocol === 'http:' && isHere))
      throw new TypeError(`${url} needs https: the key would travel in clear text`);
    this.#url = url.replace(/\/+$/, '');
    this.#key = typeof key === 'string' ? async () => key : key;
  }

  /** Lists the tools that the caller may call. */
  async tools({ signal }: Waiting = {}): Promise<readonly ListedTool[]> {
    return (await this.#send(isListOfTools, 'GET', '/v1/tools', { signal })).view.tools;
  }

  /** Asks for a call of a tool. It may have ended already when this returns. */
  async run(request: RunRequest, { idempotencyKey, signal }: Asking = {}): Promise<Run> {
    return (await this.#send(isRun, 'POST', '/v1/runs', { body: request, idempotencyKey, signal })).view;
  }

  /** Asks for several calls at once; the caller has `propose_plan` among its tools. */
  plan({ goal, steps }: Plan, options: Asking = {}): Promise<Run> {
    return this.run({ tool: 'propose_plan', input: { goal, steps } }, options);
  }

  async readRun(id: string): Promise<Run> {
    return (await this.#send(isRun, 'GET', pathOf('runs', id))).view;
  }

  /** Waits for the end of a run, also while the bot is restarted. */
  waitForRun(id: string, { signal }: Waiting = {}): Promise<Run> {
    return this.#waitUntil(isRun, pathOf('runs', id), ({ status }) => isEnded(status), signal);
  }

  /** Withdraws a run, unless it has started. */
  async withdrawRun(id: string): Promise<Run> {
    return (await this.#send(isRun, 'DELETE', pathOf('runs', id))).view;
  }

  /** Asks about something that the caller runs itself. */
  async ask(request: AskRequest, { idempotencyKey, signal }: Asking = {}): Promise<Ask> {
    return (await this.#send(isAsk, 'POST', '/v1/asks', { body: request, idempotencyKey, signal })).view;
  }

  async readAsk(id: string): Promise<Ask> {
    return (await this.#send(isAsk, 'GET', pathOf('asks', id))).view;
  }

  /** Waits until people have decided, also while the bot is restarted. */
  waitForAsk(id: string, { signal }: Waiting = {}): Promise<Ask> {
    return this.#waitUntil(isAsk, pathOf('asks', id), ({ status }) => !isUndecided(status), signal);
  }

  /** Reads an ask once people have decided, or after that time. Where the bot has no place to wait, the time passes here. */
  awaitAsk(id: string, waitS: number, signal?: AbortSignal): Promise<Ask> {
    return this.#readOrWait(isAsk, pathOf('asks', id), waitS, ({ status }) => !isUndecided(status), signal);
  }

  /**
   * Takes the approval, once, before the action runs. It is never sent twice: after an `UnreachableError` nobody knows whether it was
   * taken, so run nothing.
   */
  async startAsk(id: string): Promise<Ask> {
    return (await this.#send(isAsk, 'POST', `${pathOf('asks', id)}/start`)).view;
  }

  async reportAsk(id: string, report: Report): Promise<Ask> {
    return (await this.#send(isAsk, 'POST', `${pathOf('asks', id)}/report`, { body: report })).view;
  }

  /** Withdraws an ask that has not started. */
  async withdrawAsk(id: string): Promise<Ask> {
    return (await this.#send(isAsk, 'DELETE', pathOf('asks', id))).view;
  }

  async #waitUntil<View>(
    is: Guard<View>,
    path: string,
    isOver: (view: View) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<View> {
    for (;;) {
      signal?.throwIfAborted();
      const read = () => this.#readOrWait(is, path, LONGEST_WAIT_S, isOver, signal);
      const view = await persist(read, { forMs: PATIENCE_MS, signal });
      if (isOver(view)) return view;
    }
  }

  async #readOrWait<View>(
    is: Guard<View>,
    path: string,
    waitS: number,
    isOver: (view: View) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<View> {
    const until = performance.now() + waitS * 1_000;
    const { view, retryAfterS } = await this.#send(is, 'GET', path, { waitS, signal });
    const left = until - performance.now();
    const pauseMs = retryAfterS === undefined ? UNWAITED_MS : retryAfterS * 1_000;
    if (!isOver(view) && left > 0) await pause(Math.min(pauseMs, left), signal);
    return view;
  }

  async #send<View>(
    is: Guard<View>,
    method: string,
    path: string,
    { body, waitS = 0, idempotencyKey, signal }: Sent = {},
  ): Promise<Read<View>> {
    const key = await this.#key();
    const address = `${this.#url}${path}${waitS > 0 ? `?wait=${waitS}` : ''}`;
    const timeout = AbortSignal.timeout(waitS * 1_000 + ANSWER_MS);
    const { response, text } = await fetchText(address, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    const retryAfter = response.headers.get('retry-after') ?? '';
    const retryAfterS = /^\d{1,4}$/.test(retryAfter) ? Number(retryAfter) : undefined;
    const answer = objectIn(text);
    if (response.status < 300 && answer !== undefined && is(answer)) return { view: answer, retryAfterS };
    const { code, detail }: { readonly code?: unknown; readonly detail?: unknown } = answer ?? {};
    if (response.status < 300 || response.status >= 500 || typeof code !== 'string')
      throw new UnreachableError(`The bot answered ${response.status}`);
    throw new RefusedError(code, String(detail ?? code), response.status, retryAfterS);
  }
}

/** Repeats a request that may be sent twice until the bot has answered it, for a limited time. */
export async function persist<Value>(
  work: () => Promise<Value>,
  { forMs, signal, onFailure }: Patience,
): Promise<Value> {
  const since = performance.now();
  const until = since + forMs;
  for (let pauseMs = 200; ; pauseMs = Math.min(2 * pauseMs, MAX_BACK_OFF_MS)) {
    try {
      return await work();
    } catch (error) {
      const isWorthAnother = error instanceof UnreachableError && performance.now() + pauseMs < until;
      if (!isWorthAnother || signal?.aborted === true) throw error;
      await onFailure?.(error, performance.now() - since);
      await pause(pauseMs, signal);
    }
  }
}

function pathOf(kind: 'runs' | 'asks', id: string): string {
  return `/v1/${kind}/${encodeURIComponent(id)}`;
}

async function fetchText(
  address: string,
  init: RequestInit,
): Promise<{ readonly response: Response; readonly text: string }> {
  try {
    const response = await fetch(address, init);
    return { response, text: await response.text() };
  } catch (cause) {
    const why = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
    throw new UnreachableError(
      `The bot cannot be reached: ${why instanceof Error ? why.message : String(why)}`,
      { cause },
    );
  }
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Waits, or until the signal is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}
