import { hash, timingSafeEqual } from 'node:crypto';
import { withTimeout } from '../agent/util/abort.ts';
import { type HttpAnswer, jsonAnswer, refusal } from './http-answer.ts';
import type { HttpPart, HttpRequest } from './http-part.ts';

export interface ProbeOptions {
  /** Whether Slack can reach the bot. */
  readonly isConnected: () => boolean;
  /** Tries a write. Returns Redis's code if it refuses one; an error and a timeout mean that Redis does not answer. */
  readonly refusedWrite: () => Promise<string | undefined>;
  /** The number of tools that are missing, and of their other problems. */
  readonly toolProblems: () => number;
  /** The reason for which the audit log is not signed now, if there is one. */
  readonly unsigned: () => string | undefined;
  /** Writes the metrics in Prometheus's text format. */
  readonly metrics: () => Promise<HttpAnswer>;
  /** The bearer token that a scrape must show, if there is one. */
  readonly metricsToken?: string | undefined;
}

const REDIS_MS = 2_000;

/** Answers those who watch the bot: whether it is alive, whether it is ready, and its metrics. */
export function probes(options: ProbeOptions): HttpPart {
  const { metrics, metricsToken } = options;
  return {
    paths: ['/health', '/ready', '/metrics'],
    open: async () => ({
      routes: [
        { method: 'GET', path: '/health', takesHead: true, answer: () => jsonAnswer(200, { ok: true }) },
        { method: 'GET', path: '/ready', takesHead: true, answer: () => readiness(options) },
        {
          method: 'GET',
          path: '/metrics',
          takesHead: true,
          answer: (request) => (mayScrape(metricsToken, request) ? metrics() : NO_TOKEN),
        },
      ],
    }),
  };
}

const NO_TOKEN = refusal(401, 'Send the METRICS_TOKEN of this bot as a bearer token.', {
  'www-authenticate': 'Bearer',
});

/** Compares digests, which have one length, so that the time of the answer says nothing about the token. */
function mayScrape(metricsToken: string | undefined, { headers }: HttpRequest): boolean {
  if (metricsToken === undefined) return true;
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${metricsToken}`));
}

/** A bot without some of its tools, or with a log that it does not sign, is ready, and says so. */
async function readiness(options: ProbeOptions): Promise<HttpAnswer> {
  const { isConnected, refusedWrite, toolProblems, unsigned } = options;
  const tried = refusedWrite().then(
    (code) => ({ redis: true, writes: code ?? true }),
    () => undefined,
  );
  const { redis, writes } = (await withTimeout(tried, REDIS_MS)) ?? { redis: false, writes: false };
  const slack = isConnected();
  const ok = redis && slack && writes === true;
  const problems = toolProblems();
  const reason = unsigned();
  return jsonAnswer(ok ? 200 : 503, {
    ok,
    slack,
    redis,
    writes,
    ...(problems > 0 && { tool_problems: problems }),
    ...(reason !== undefined && { not_signed: reason }),
  });
}
