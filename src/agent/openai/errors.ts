import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import { ModelError, type ModelErrorCode } from '../errors.ts';
import type { FailedAttempt } from './retry.ts';

const RETRYABLE_STATUS = new Set([408, 409, 429]);

/** Decides whether a failed request is sent again, and after which wait. */
export function classifyFailure(error: unknown): FailedAttempt {
  const never = { retryable: false, retryAfterMs: undefined };
  if (error instanceof APIUserAbortError) return never;
  if (error instanceof APIConnectionError) return { retryable: true, retryAfterMs: undefined };
  if (!(error instanceof APIError) || error.status === undefined) return never;
  const headers: Headers = error.headers ?? new Headers();
  const isRetryable = RETRYABLE_STATUS.has(error.status) || error.status >= 500;
  // A spent quota answers 429 as well, and waiting does not help.
  const isFinal = headers.get('x-should-retry') === 'false' || error.code === 'insufficient_quota';
  return { retryable: isRetryable && !isFinal, retryAfterMs: retryAfter(headers) };
}

function retryAfter(headers: Headers): number | undefined {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const given = headers.get('retry-after');
  if (given === null) return undefined;
  const seconds = Number(given);
  const wait = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** Turns an error of the client into a `ModelError`. */
export function toModelError(error: APIError, model: string): ModelError {
  const { retryAfterMs } = classifyFailure(error);
  const status = statusOf(error);
  return new ModelError(codeOf(error, status), `The model "${model}" gave no answer: ${error.message}`, {
    cause: error,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** Reads the status of a refusal; an error inside a stream has only a code, which some servers set to a status. */
function statusOf(error: APIError): number | undefined {
  const code = Number(error.code ?? Number.NaN);
  return error.status ?? (code >= 400 && code < 600 ? code : undefined);
}

function codeOf(error: APIError, status: number | undefined): ModelErrorCode {
  if (error instanceof APIConnectionTimeoutError) return 'timed-out';
  if (status === undefined || status >= 500) return 'unavailable';
  if (status === 429) return 'rate-limited';
  return status === 401 || status === 403 ? 'unauthorized' : 'refused-request';
}
