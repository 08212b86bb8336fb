import { setTimeout as sleep } from 'node:timers/promises';
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { ModelError, type ModelErrorCode } from '../errors.ts';

const RETRYABLE_STATUS = new Set([408, 409, 429]);
/** Errors inside a stream have no status. */
const RETRYABLE_CODES = new Set(['rate_limit_exceeded', 'server_error', 'server_is_overloaded', 'slow_down']);
const QUOTA_CODES = new Set([
  'insufficient_quota',
  'credit_balance_exhausted',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
  'organization_usage_limit_exceeded',
]);
const POLICY_CODES = new Set([
  'content_filter',
  'content_policy_violation',
  'invalid_prompt',
  'bio_policy',
  'cyber_policy',
  'misalignment_policy_violation',
]);
/** The words of OpenAI and vLLM, Anthropic, and Gemini. */
const TOO_LONG =
  /maximum context length|exceeds the context window|prompt is too long|exceed context limit|exceeds the maximum number of tokens/i;
const NO_SUCH_MODEL =
  /\bmodels?\b.*(?:not exist|not found|deprecated|decommissioned|shut down|retired)|not a valid model/i;

/** Decides whether a failed request is sent again, and after which wait. */
export function classifyFailure(error: unknown): FailedAttempt {
  const never = { retryable: false, retryAfterMs: undefined };
  if (error instanceof APIUserAbortError) return never;
  if (error instanceof APIConnectionError) return { retryable: true, retryAfterMs: undefined };
  if (!(error instanceof APIError)) return never;
  const status = statusOf(error);
  const isRetryable =
    status === undefined
      ? RETRYABLE_CODES.has(error.code ?? '')
      : RETRYABLE_STATUS.has(status) || status >= 500;
  // A spent quota answers 429 as well, and waiting does not help.
  const isFinal = headersOf(error).get('x-should-retry') === 'false' || isQuota(error);
  return { retryable: isRetryable && !isFinal, retryAfterMs: retryAfter(error) };
}

function headersOf(error: APIError): Headers {
  return error.headers ?? new Headers();
}

function retryAfter(error: APIError): number | undefined {
  const headers = headersOf(error);
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const given = headers.get('retry-after');
  if (given === null) return waitInWords(error.message);
  const seconds = Number(given);
  const wait = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** Reads "try again in 6.57s", which is all that an error inside a stream has. */
function waitInWords(message: string): number | undefined {
  const [, amount, unit] = /try again in\s*(\d+(?:\.\d+)?)\s*(ms|s)/i.exec(message) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unit === 'ms' ? 1 : 1000);
}

/** Turns an error of the client into a `ModelError`. */
export function toModelError(error: APIError, model: string): ModelError {
  const status = statusOf(error);
  return new ModelError(codeOf(error, status), `The model "${model}" gave no answer: ${error.message}`, {
    cause: error,
    status,
    retryAfterMs: retryAfter(error),
    field: error.param ?? undefined,
  });
}

/** Reads the status of a refusal; an error inside a stream has only a code, which some servers set to a status. */
export function statusOf(error: APIError): number | undefined {
  const code = Number(error.code ?? Number.NaN);
  return error.status ?? (code >= 400 && code < 600 ? code : undefined);
}

export function isUnknownModel({ code, message }: APIError): boolean {
  return code === 'model_not_found' || code === 'DeploymentNotFound' || NO_SUCH_MODEL.test(message);
}

function isQuota({ code, type, status }: APIError): boolean {
  return status === 402 || QUOTA_CODES.has(code ?? '') || QUOTA_CODES.has(type ?? '');
}

function codeOf(error: APIError, status: number | undefined): ModelErrorCode {
  if (error instanceof APIConnectionTimeoutError) return 'timed-out';
  if (isQuota(error)) return 'no-quota';
  if (error.code === 'context_length_exceeded' || status === 413) return 'context-too-long';
  if (POLICY_CODES.has(error.code ?? '')) return 'content-filter';
  if (status === 429 || error.code === 'rate_limit_exceeded') return 'rate-limited';
  if (TOO_LONG.test(error.message)) return 'context-too-long';
  if (status === undefined || status >= 500) return 'unavailable';
  if (isUnknownModel(error)) return 'unknown-model';
  return status === 401 || status === 403 ? 'unauthorized' : 'refused-request';
}

/** Builds the error of an answer that carries one in place of content. */
export function streamError(error: unknown): APIError {
  return new APIError(
    undefined,
    typeof error === 'object' ? (error ?? undefined) : { message: String(error) },
    undefined,
    undefined,
  );
}

interface RetrySettings {
  /** The most repetitions of a failed attempt. */
  readonly maxRetries: number;
  /** The first wait; each further wait is twice as long, up to `longestWaitMs`. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  readonly signal: AbortSignal | undefined;
  /** Called before each repetition. */
  readonly onRetry?: (() => void) | undefined;
}

interface FailedAttempt {
  readonly retryable: boolean;
  /** The wait that the other side asked for. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Repeats an attempt while its failures are retryable, after the wait that was asked for or else an exponential one. A requested
 * wait above `longestWaitMs` ends the retries: only the caller can decide to wait that long. The signal ends a wait at once.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  classify: (error: unknown) => FailedAttempt,
  settings: RetrySettings,
): Promise<Result> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const { retryable, retryAfterMs } = classify(error);
      const wait = retryAfterMs ?? backOff(retries, settings);
      if (!retryable || retries >= settings.maxRetries || wait > settings.longestWaitMs) throw error;
      settings.onRetry?.();
      await sleep(wait, undefined, settings.signal && { signal: settings.signal });
    }
  }
}

function backOff(retries: number, { firstWaitMs, longestWaitMs }: RetrySettings): number {
  const full = Math.min(firstWaitMs * 2 ** retries, longestWaitMs);
  return full * (0.75 + Math.random() * 0.25);
}
