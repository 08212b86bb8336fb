import {
  checkResourceAllowed,
  computeScopeUnion,
  exchangeAuthorization,
  OAuthError,
  refreshAuthorization,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { AuthorizationError, toAuthorizationError } from '../../errors.ts';
import type { Challenge, ClientConfig, ConsentSettings, Fetch } from '../mcp-config.ts';
import { challengeIn } from './authorized-fetch.ts';
import type { RequesterServer } from './connections.ts';
import { clientFor, discover, readMetadata, registerFor, selectScope } from './discover.ts';
import { type Grant, type PendingConsent, type RegisteredClient, toGrant } from './grant.ts';

const REQUEST: RequestInit = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
};

/** Asks a server without a token, to learn where its metadata is and which scope it wants; empty if it does not say. */
export async function probeChallenge(url: string, fetch: Fetch): Promise<Challenge> {
  const response = await fetch(url, REQUEST).catch(() => undefined);
  return response?.status === 401 ? challengeIn(response) : {};
}

export interface StartedConsent {
  readonly authorizationUrl: URL;
  readonly pending: PendingConsent;
}

/** Begins an authorization with PKCE: returns the address for the person's browser, and what completes it. */
export async function startConsent(
  settings: ConsentSettings,
  { challenge, state, granted }: { challenge: Challenge; state: string; granted?: string | undefined },
): Promise<StartedConsent> {
  const { serverUrl, auth, redirectUrl, fetch } = settings;
  const found = await discover(serverUrl, { challenge, issuer: auth.issuer, fetch });
  const { issuer, resource, metadata } = found;
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw new AuthorizationError(`${issuer} does not offer PKCE with S256`);
  const wanted = selectScope(found, {
    configured: auth.scope,
    challenged: challenge.scope,
    offline: true,
  });
  const scope = computeScopeUnion(granted, wanted);
  try {
    const registered = await registerFor(settings, metadata, scope);
    const client = clientFor(settings, metadata, registered);
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
      metadata,
      clientInformation: client.information,
      redirectUrl,
      state,
      resource,
      ...(scope !== undefined && { scope }),
    });
    const clientId = client.information.client_id;
    return {
      authorizationUrl,
      pending: {
        issuer,
        resource,
        clientId,
        redirectUrl,
        codeVerifier,
        ...(scope !== undefined && { scope }),
        ...(registered !== undefined && { registered }),
      },
    };
  } catch (error) {
    throw toAuthorizationError(`${issuer} cannot be used`, error);
  }
}

/**
 * Completes an authorization with the parameters by which the person was sent back. An answer of another issuer (RFC 9207) is refused
 * before anything in it is used, and the code goes only to the issuer that was asked.
 */
export async function finishConsent(
  settings: ConsentSettings,
  pending: PendingConsent,
  answer: URLSearchParams,
): Promise<Grant> {
  const { fetch } = settings;
  const { issuer, resource, codeVerifier, redirectUrl, clientId, scope, registered } = pending;
  const metadata = await readMetadata(issuer, fetch);
  const iss = answer.get('iss') ?? undefined;
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    });
    const problem = answer.get('error');
    if (problem !== null) throw new AuthorizationError(`the answer is ${problem}`);
    const client = clientFor(settings, metadata, registered);
    if (client.information.client_id !== clientId)
      throw new AuthorizationError('the client has changed meanwhile');
    const tokens = await exchangeAuthorization(issuer, {
      metadata,
      clientInformation: client.information,
      authorizationCode: answer.get('code') ?? '',
      codeVerifier,
      redirectUri: redirectUrl,
      resource,
      fetchFn: fetch,
      ...(iss !== undefined && { iss }),
      ...(client.authenticate !== undefined && { addClientAuthentication: client.authenticate }),
    });
    return toGrant(tokens, { issuer, resource, clientId, scope, registered });
  } catch (error) {
    throw toAuthorizationError(`${issuer} did not connect the account`, error);
  }
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

/** Tells whether an authorization server says that a refresh token is worth nothing any more, or has forgotten a client that was registered there. */
export function isRefused(error: unknown, { registered }: Pick<Grant, 'registered'>): boolean {
  if (!(error instanceof OAuthError)) return false;
  return error.code === 'invalid_grant' || (registered !== undefined && error.code === 'invalid_client');
}
