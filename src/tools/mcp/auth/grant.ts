import type { OAuthTokens } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** A client that was registered for one connection (RFC 7591); it is stored with what it is for, and nowhere else. */
export const RegisteredClient = z.object({
  clientId: z.string(),
  secret: z.string().optional(),
  method: z.string().optional(),
});
export type RegisteredClient = Readonly<z.infer<typeof RegisteredClient>>;

/** The tokens of one person at one server, bound to the issuer that gave them and the resource that they are for. */
export const Grant = z.object({
  issuer: z.string(),
  resource: z.string(),
  clientId: z.string(),
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  scope: z.string().optional(),
  renewAt: z.number(),
  endsAt: z.number(),
  /** Whether the issuer has said when the access token ends; else `endsAt` is a guess. Older grants do not have it. */
  isEndKnown: z.boolean().optional(),
  /** The client that was registered for this connection, if one was. */
  registered: RegisteredClient.optional(),
});
export type Grant = Readonly<z.infer<typeof Grant>>;

/** An authorization that was begun; it holds the PKCE verifier, so it is a secret. */
export const PendingConsent = z.object({
  issuer: z.string(),
  resource: z.string(),
  clientId: z.string(),
  redirectUrl: z.string(),
  codeVerifier: z.string(),
  scope: z.string().optional(),
  registered: RegisteredClient.optional(),
});
export type PendingConsent = Readonly<z.infer<typeof PendingConsent>>;

type Binding = Pick<Grant, 'issuer' | 'resource' | 'clientId' | 'scope' | 'registered'>;

/** Joins tokens with what they are bound to. A server that does not name the scope has granted the one that was asked for. */
export function toGrant(
  tokens: OAuthTokens,
  { issuer, resource, clientId, scope, registered }: Binding,
): Grant {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = tokens;
  const granted = tokens.scope ?? scope;
  return {
    issuer,
    resource,
    clientId,
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(granted !== undefined && { scope: granted }),
    ...renewalTime(seconds),
    isEndKnown: seconds !== undefined,
    ...(registered !== undefined && { registered }),
  };
}

/** Tells whether a grant is worth nothing any more: its access token has ended, and it has no other. */
export function hasEnded({ refreshToken, isEndKnown, endsAt }: Grant): boolean {
  return refreshToken === undefined && isEndKnown === true && Date.now() >= endsAt;
}

const MARGIN_MS = 60_000;
const DEFAULT_SECONDS = 3600;

/** Returns when a token ends, and when it is renewed: a minute before, or at half of a short life. */
export function renewalTime(
  seconds = DEFAULT_SECONDS,
  now = Date.now(),
): { renewAt: number; endsAt: number } {
  const lifeMs = seconds * 1000;
  return { renewAt: now + Math.max(lifeMs - MARGIN_MS, lifeMs / 2), endsAt: now + lifeMs };
}
