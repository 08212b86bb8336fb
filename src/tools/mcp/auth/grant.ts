import { checkResourceAllowed, type OAuthTokens, refreshAuthorization } from '@modelcontextprotocol/client';
import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { toAuthorizationError } from '../../errors.ts';
import type { ClientConfig, ConsentSettings } from '../mcp-config.ts';
import type { RequesterServer } from './connections.ts';
import { clientFor, RegisteredClient, readMetadata } from './discover.ts';

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

/** Tells whether a grant is for a server as the manifest has it now: its address, its issuer and its client. */
export function isGrantFor(
  { url, auth }: Pick<RequesterServer, 'url' | 'auth'>,
  { resource, issuer, clientId }: Grant,
): boolean {
  const isIssuer = auth.issuer === undefined || withoutSlash(auth.issuer) === withoutSlash(issuer);
  const isClient = auth.client === undefined || auth.client.clientId === clientId;
  return (
    isIssuer && isClient && checkResourceAllowed({ requestedResource: url, configuredResource: resource })
  );
}

/** Tells whether a grant is worth nothing any more: its access token has ended, and it has no other. */
export function hasEnded({ refreshToken, isEndKnown, endsAt }: Grant): boolean {
  return refreshToken === undefined && isEndKnown === true && Date.now() >= endsAt;
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

/** Exchanges the refresh token of a grant at the issuer that gave it; `undefined` if there is none. */
export async function refreshGrant(settings: ConsentSettings, grant: Grant): Promise<Grant | undefined> {
  const { issuer, resource, clientId, refreshToken, registered } = grant;
  if (refreshToken === undefined) return undefined;
  const { fetch } = settings;
  const metadata = await readMetadata(issuer, fetch);
  const client = clientFor(settings, metadata, registered);
  if (client.information.client_id !== clientId) return undefined;
  const tokens = await refreshAuthorization(issuer, {
    metadata,
    clientInformation: client.information,
    refreshToken,
    resource,
    fetchFn: fetch,
    ...(client.authenticate !== undefined && { addClientAuthentication: client.authenticate }),
  });
  return toGrant(tokens, grant);
}

const Revocation = z.object({ revocation_endpoint: z.string().optional() });

/** Tells the issuer that a grant is over (RFC 7009). Returns whether it offers that. */
export async function revokeGrant(settings: ConsentSettings, grant: Grant): Promise<boolean> {
  const { issuer, clientId, refreshToken, accessToken, registered } = grant;
  const { client } = settings.auth;
  try {
    const { revocation_endpoint: endpoint } = Revocation.parse(await readMetadata(issuer, settings.fetch));
    if (endpoint === undefined) return false;
    const response = await oauth.revocationRequest(
      { issuer, revocation_endpoint: endpoint },
      { client_id: clientId },
      client === undefined ? registeredAuthentication(registered) : await authenticationOf(client),
      refreshToken ?? accessToken,
      {
        [oauth.customFetch]: (url, { method, headers, body }) =>
          settings.fetch(url, { method, headers, body }),
        [oauth.allowInsecureRequests]: new URL(issuer).protocol === 'http:',
      },
    );
    await oauth.processRevocationResponse(response);
    return true;
  } catch (error) {
    throw toAuthorizationError(`${issuer} did not revoke the tokens`, error);
  }
}

async function authenticationOf({ secret, privateKey, algorithm }: ClientConfig): Promise<oauth.ClientAuth> {
  if (secret !== undefined) return oauth.ClientSecretBasic(secret);
  if (privateKey === undefined) return oauth.None();
  const { importPKCS8 } = await import('jose');
  return oauth.PrivateKeyJwt(await importPKCS8(privateKey, algorithm));
}

function registeredAuthentication(registered: RegisteredClient | undefined): oauth.ClientAuth {
  if (registered?.secret === undefined) return oauth.None();
  const { secret, method } = registered;
  return method === 'client_secret_post' ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
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
