import { z } from 'zod';
import { Failure } from './errors.ts';

const PATIENCE_MS = 15_000;
const SLACK_API = 'https://slack.com/api/';

const Answer = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

/** What Slack said to a call: also a refusal is an answer. */
export interface SlackAnswer {
  readonly ok: boolean;
  readonly error: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly scopes: readonly string[];
}

/** Calls one method of Slack's Web API; a Slack that cannot be reached, or is none, is a `Failure` without the token in it. */
export async function callSlack(
  method: string,
  token: string,
  args: Readonly<Record<string, string>>,
  { SLACK_API_URL: base }: NodeJS.ProcessEnv,
): Promise<SlackAnswer> {
  const root = base === undefined || base === '' ? SLACK_API : base.replace(/\/*$/, '/');
  if (!URL.canParse(root)) throw new Failure('SLACK_API_URL must be a URL');
  const { host } = new URL(root);
  const response = await fetch(new URL(method, root), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams(args),
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch((error: unknown) => {
    throw new Failure(`Slack cannot be reached at ${host} (${reasonOf(error)})`);
  });
  if (response.status === 429) {
    const wait = response.headers.get('retry-after') ?? 'some';
    throw new Failure(`Slack wants us to wait ${wait} seconds before ${method} is called again`);
  }
  const answer = Answer.safeParse(await response.json().catch(() => undefined));
  if (!answer.success)
    throw new Failure(`what answered ${method} at ${host} is not Slack (status ${response.status})`);
  const { ok, error = 'no error was named' } = answer.data;
  const scopes = (response.headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim());
  return { ok, error, body: answer.data, scopes: scopes.filter((scope) => scope !== '') };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : error.message;
}
