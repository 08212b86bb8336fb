import {
  computeScopeUnion,
  exchangeAuthorization,
  OAuthError,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { AuthorizationError, toAuthorizationError } from '../../errors.ts';
import type { Challenge, ConsentSettings } from '../mcp-config.ts';
import { clientFor, discover, RegisteredClient, readMetadata, registerFor, selectScope } from './discover.ts';
import { type Grant, toGrant } from './grant.ts';

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

/** Tells whether an authorization server says that a refresh token is worth nothing any more, or has forgotten a client that was registered there. */
export function isRefused(error: unknown, { registered }: Pick<Grant, 'registered'>): boolean {
  if (!(error instanceof OAuthError)) return false;
  return error.code === 'invalid_grant' || (registered !== undefined && error.code === 'invalid_client');
}
