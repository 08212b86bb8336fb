import { z } from 'zod';
import { proxiedFetch, readProxy } from '../../tools/http/proxy.ts';
import { Failure } from './command.ts';

const TIMEOUT_MS = 15_000;
const SLACK_API = 'https://slack.com/api/';

const Body = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

/** Slack's response to a call; an error of Slack is a response as well. */
export interface SlackResponse {
  readonly ok: boolean;
  readonly error: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly scopes: readonly string[];
  /** The clock of Slack when it answered, in milliseconds; `undefined` if it names none. */
  readonly date: number | undefined;
}

/** Slack wants fewer calls; the same call may be made again after so many seconds. */
export class RateLimited extends Failure {
  readonly seconds: number;

  constructor(method: string, seconds: number) {
    super(`Slack limits the rate of ${method}; try again in ${seconds} seconds`);
    this.seconds = seconds;
  }
}

/** Calls one method of Slack's Web API. A server that cannot be reached or is not Slack is a `Failure`, without the token in it. */
export async function callSlack(
  method: string,
  token: string,
  args: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
): Promise<SlackResponse> {
  const { SLACK_API_URL: base } = environment;
  const root = base === undefined || base === '' ? SLACK_API : base.replace(/\/*$/, '/');
  if (!URL.canParse(root)) throw new Failure('SLACK_API_URL must be a URL');
  const { host } = new URL(root);
  const response = await proxiedFetch(readProxy(environment))(new URL(method, root), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams(args),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Failure(`Slack cannot be reached at ${host} (${reasonOf(error)})`);
  });
  if (response.status === 429)
    throw new RateLimited(method, Number(response.headers.get('retry-after') ?? 30));
  const parsed = Body.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success)
    throw new Failure(`the server at ${host} is not Slack: ${method} returned status ${response.status}`);
  const { ok, error = 'no error was named' } = parsed.data;
  const scopes = (response.headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim());
  const date = Date.parse(response.headers.get('date') ?? '');
  return {
    ok,
    error,
    body: parsed.data,
    scopes: scopes.filter((scope) => scope !== ''),
    date: Number.isNaN(date) ? undefined : date,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timed out';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : error.message;
}
