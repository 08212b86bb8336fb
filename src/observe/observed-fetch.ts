import { z } from 'zod';
import type { Metrics } from './metrics.ts';
import { inSpan, traceIdOf } from './tracing.ts';

type Fetch = typeof globalThis.fetch;

/** Wraps the `fetch` of the Slack client: each call is counted by method and status, and is a span within running work. */
export function observedSlackFetch(fetchFrom: Fetch, metrics: Metrics): Fetch {
  return async (input, init) => {
    const method = methodOf(input);
    const call = async (): Promise<Response> => {
      try {
        const response = await fetchFrom(input, init);
        metrics.count('countersign_slack_calls_total', { method, status: String(response.status) });
        if (method !== OTHER) void noteToken(response.clone(), metrics);
        return response;
      } catch (error) {
        metrics.count('countersign_slack_calls_total', { method, status: 'failed' });
        throw error;
      }
    };
    // Look-ups for nobody in particular would each begin a trace of their own.
    if (traceIdOf() === undefined) return call();
    const attributes = { 'countersign.slack.method': method };
    return inSpan(`slack ${method}`, { kind: 'client', attributes }, async (span) => {
      const response = await call();
      span.setAttribute('http.response.status_code', response.status);
      return response;
    });
  };
}

/** Names the method of Slack's API; addresses that Slack hands out, such as those of `respond`, are one. */
function methodOf(input: Parameters<Fetch>[0]): string {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return /^[a-z]+(?:\.[A-Za-z]+)+$/.test(last) ? last : OTHER;
}

const OTHER = 'other';
/** The errors by which Slack refuses a token, whatever the call. */
const TOKEN_REFUSED = ['account_inactive', 'invalid_auth', 'not_authed', 'token_expired', 'token_revoked'];
const Answer = z.object({ ok: z.boolean(), error: z.string().default('') });

/** Notes whether Slack takes the token of the bot; it refuses one with status 200. */
async function noteToken(response: Response, metrics: Metrics): Promise<void> {
  const answer = await response
    .json()
    .then(Answer.parse)
    .catch(() => undefined);
  if (answer === undefined) return;
  const isRefused = !answer.ok && TOKEN_REFUSED.includes(answer.error);
  metrics.set('countersign_slack_token_accepted', {}, isRefused ? 0 : 1);
}
