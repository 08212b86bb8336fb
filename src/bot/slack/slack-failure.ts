import { ErrorCode } from '@slack/web-api';

/** The meaning of a failed call to Slack: retry later, post anew, or give up. */
export type SlackFailure =
  | {
      readonly kind: 'later';
      readonly afterMs: number | undefined;
      readonly reason: string;
      /** Present if Slack has certainly not taken the call. */
      readonly isUntaken?: true;
    }
  | { readonly kind: 'gone'; readonly reason: string }
  | { readonly kind: 'impossible'; readonly reason: string };

const GONE = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed']);
const LATER = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'ratelimited',
  'rate_limited',
  'accesslimited',
  'team_added_to_org',
  // Nothing can be sent at all; the single call is not at fault.
  'invalid_auth',
  'not_authed',
  'token_revoked',
  'token_expired',
  'account_inactive',
]);

/** Classifies a failed call to Slack. */
export function judgeSlackFailure(error: unknown): SlackFailure {
  const { code, data, retryAfter, statusCode, message = String(error) } = fieldsOf(error);
  if (code === ErrorCode.RateLimitedError)
    return { kind: 'later', afterMs: (retryAfter ?? 1) * 1000, reason: 'ratelimited', isUntaken: true };
  if (code === ErrorCode.HTTPError && isPermanent(statusCode))
    return { kind: 'impossible', reason: `http_${statusCode}` };
  if (code !== ErrorCode.PlatformError) return { kind: 'later', afterMs: undefined, reason: message };
  const reason = data?.error ?? message;
  if (GONE.has(reason)) return { kind: 'gone', reason };
  return LATER.has(reason) ? { kind: 'later', afterMs: undefined, reason } : { kind: 'impossible', reason };
}

/** Tells whether an HTTP status means that the same call would fail again. */
function isPermanent(status = 0): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

interface ErrorFields {
  readonly code?: string;
  readonly data?: { readonly error?: string };
  readonly retryAfter?: number;
  readonly statusCode?: number;
  readonly message?: string;
}

function fieldsOf(error: unknown): ErrorFields {
  return typeof error === 'object' && error !== null ? error : {};
}
