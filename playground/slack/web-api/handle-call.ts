import { ZodError } from 'zod';
import { describeIssue } from '../block-kit/check-blocks.ts';
import { refusedBy } from '../shortcomings.ts';
import type { JsonObject } from '../state/types.ts';
import type { Method, MethodContext, TokenKind } from './method.ts';
import { METHODS } from './method-table.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { Refusal } from './refusal.ts';
import { METHOD_SCOPES, SCOPED_BY_CHANNEL } from './scopes.ts';

/** One call as Slack saw it, kept for the tests. */
export interface RecordedCall {
  method: string;
  arguments: JsonObject;
  token: TokenKind | 'none' | 'unknown';
  status: number;
  response: JsonObject;
  /** True when the connection was reset, so that the app never saw the answer. */
  isLost: boolean;
  at: number;
}

/** The answer to a call: always 200, except when the caller is rate limited or Slack itself fails. */
export interface CallAnswer {
  status: number;
  body: JsonObject;
  retryAfterSeconds?: number;
}

/** Limits a test has switched on: how many further calls of a method are refused. */
export interface RateLimit {
  method: string;
  remaining: number;
  retryAfterSeconds: number;
}

export interface CallHandling {
  context: Omit<MethodContext, 'token'>;
  rateLimits: RateLimit[];
  /** Slack's own limits, when they are switched on. */
  rateLimiter?: RateLimiter;
}

/** Answers one call in the order Slack checks: method, token, rate limit, scopes, arguments. */
export function handleCall(
  name: string,
  given: JsonObject,
  token: string | undefined,
  handling: CallHandling,
): CallAnswer {
  try {
    const method = METHODS.get(name);
    if (method === undefined) throw new Refusal('unknown_method', { req_method: name });
    const kind = requireToken(method, token, handling);
    const retryAfterSeconds = limitFor(name, given, handling);
    if (retryAfterSeconds !== undefined) {
      return { status: 429, body: { ok: false, error: 'ratelimited' }, retryAfterSeconds };
    }
    requireScopes(name, kind, handling);
    const refused = refusedBy(handling.context.state.shortcomings, name);
    if (refused !== undefined) throw new Refusal(refused);
    return { status: 200, body: { ok: true, ...method.run(given, { ...handling.context, token: kind }) } };
  } catch (error) {
    if (error instanceof Refusal) return { status: 200, body: error.answer };
    if (error instanceof ZodError) return { status: 200, body: argumentRefusal(error).answer };
    throw error;
  }
}

/** Returns the kind of a token. */
export function tokenKind(token: string | undefined, { context }: CallHandling): RecordedCall['token'] {
  if (token === undefined) return 'none';
  if (token === context.state.app.botToken) return 'bot';
  return token === context.state.app.appToken ? 'app' : 'unknown';
}

function limitFor(
  name: string,
  given: JsonObject,
  { rateLimits, rateLimiter }: CallHandling,
): number | undefined {
  const ordered = rateLimits.find((each) => each.method === name && each.remaining > 0);
  if (ordered === undefined) return rateLimiter?.admit(name, given.channel);
  ordered.remaining -= 1;
  return ordered.retryAfterSeconds;
}

function requireToken(method: Method, token: string | undefined, handling: CallHandling): TokenKind {
  const kind = tokenKind(token, handling);
  if (kind === 'none') throw new Refusal('not_authed');
  if (kind === 'unknown') throw new Refusal('invalid_auth');
  if (kind === 'bot' && handling.context.state.app.isTokenRevoked) throw new Refusal('token_revoked');
  if (!method.tokens.includes(kind)) throw new Refusal('not_allowed_token_type');
  return kind;
}

function requireScopes(name: string, kind: TokenKind, { context }: CallHandling): void {
  const needed = METHOD_SCOPES[name] ?? [];
  const { app, used } = context.state;
  const provided = kind === 'app' ? ['connections:write'] : app.scopes;
  const granted = needed.find((scope) => provided.includes(scope));
  if (granted !== undefined && kind === 'bot' && !SCOPED_BY_CHANNEL.includes(name)) used.scopes.add(granted);
  if (needed.length === 0 || granted !== undefined) return;
  throw new Refusal('missing_scope', { needed: needed.join(','), provided: provided.join(',') });
}

function argumentRefusal(error: ZodError): Refusal {
  const missing = error.issues.flatMap((issue) => {
    const [name] = issue.path;
    if (issue.path.length === 1 && issue.code !== 'custom')
      return [`[ERROR] missing required field: ${String(name)}`];
    return describeIssue(issue, '').map(
      ({ reason, pointer }) => `[ERROR] ${reason} [json-pointer:${pointer}]`,
    );
  });
  return new Refusal('invalid_arguments', { response_metadata: { messages: missing } });
}
