import { ErrorCode } from '@slack/web-api';

/** What a failed call to Slack means for what was to be sent. */
export type SlackFailure =
  | { readonly kind: 'later'; readonly afterMs: number | undefined; readonly reason: string }
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
  // Nothing can be sent at all; the requests are not at fault.
  'invalid_auth',
  'not_authed',
  'token_revoked',
  'token_expired',
  'account_inactive',
]);

/** Tells what may pass, what is gone and has to be posted anew, and what no second try would change. */
export function judgeSlackFailure(error: unknown): SlackFailure {
  const { code, data, retryAfter, message = String(error) } = partsOf(error);
  if (code === ErrorCode.RateLimitedError)
    return { kind: 'later', afterMs: (retryAfter ?? 1) * 1000, reason: 'ratelimited' };
  if (code !== ErrorCode.PlatformError) return { kind: 'later', afterMs: undefined, reason: message };
  const reason = data?.error ?? message;
  if (GONE.has(reason)) return { kind: 'gone', reason };
  return LATER.has(reason) ? { kind: 'later', afterMs: undefined, reason } : { kind: 'impossible', reason };
}

interface FailureParts {
  readonly code?: string;
  readonly data?: { readonly error?: string };
  readonly retryAfter?: number;
  readonly message?: string;
}

function partsOf(error: unknown): FailureParts {
  return typeof error === 'object' && error !== null ? error : {};
}
