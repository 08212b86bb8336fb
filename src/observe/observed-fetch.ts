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
  return /^[a-z]+(?:\.[A-Za-z]+)+$/.test(last) ? last : 'other';
}
