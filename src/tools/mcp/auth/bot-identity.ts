import {
  ClientCredentialsProvider,
  computeScopeUnion,
  fetchToken,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/client';
import type { Secrets } from '../../secrets.ts';
import type { Fetch } from '../mcp-config.ts';
import type { BotAuth, Challenge, ClientConfig, Identity } from './auth-config.ts';
import { AuthorizationError, toAuthorizationError } from './authorization-error.ts';
import { type Discovered, discover, selectScope } from './discover.ts';
import { renewalTime } from './grant.ts';

export interface IdentityOptions {
  readonly serverUrl: string;
  readonly fetch: Fetch;
  /** Learns each token, so that it is redacted everywhere. */
  readonly secrets?: Pick<Secrets, 'add' | 'remove'> | undefined;
}

interface Held {
  readonly token: string;
  readonly renewAt: number;
  readonly endsAt: number;
}

/** Creates the identity of the bot at one server. Its token is held in memory and renewed before it ends. */
export function createBotIdentity(auth: BotAuth, options: IdentityOptions): Identity {
  return auth.token === undefined ? clientIdentity(auth, options) : fixedIdentity(auth.token);
}

function fixedIdentity(token: string): Identity {
  const refuse = async (): Promise<string> => {
    throw new AuthorizationError('the token of the manifest was refused');
  };
  return { token: async () => token, renew: refuse, widen: refuse };
}

function clientIdentity(
  { client, scope: configured }: Extract<BotAuth, { client: ClientConfig }>,
  { serverUrl, fetch, secrets }: IdentityOptions,
): Identity {
  let held: Held | undefined;
  let known: Discovered | undefined;
  let last: Challenge = {};
  let renewal: Promise<string> | undefined;

  const request = async (challenge: Challenge): Promise<string> => {
    // A server may move to another authorization server, so a challenge is always followed.
    known = await discover(serverUrl, { challenge, issuer: client.issuer, fetch });
    const { issuer, metadata, resource } = known;
    const scope = selectScope(known, { configured, challenged: challenge.scope, offline: false });
    const provider = providerFor(client, issuer);
    try {
      const { access_token: token, expires_in: seconds } = await fetchToken(provider, issuer, {
        metadata,
        resource,
        fetchFn: fetch,
        ...(scope !== undefined && { scope }),
      });
      if (held !== undefined) secrets?.remove(held.token);
      secrets?.add(token);
      held = { token, ...renewalTime(seconds) };
      return token;
    } catch (error) {
      throw toAuthorizationError(`${issuer} gave no token`, error);
    }
  };
  const requestOnce = (challenge: Challenge): Promise<string> => {
    last = challenge;
    renewal ??= request(challenge).finally(() => {
      renewal = undefined;
    });
    return renewal;
  };

  return {
    async token() {
      if (held === undefined || Date.now() < held.renewAt) return held?.token;
      const { token, endsAt } = held;
      return requestOnce(last).catch((error: unknown) => {
        if (Date.now() < endsAt) return token;
        throw error;
      });
    },
    async renew(refused, challenge) {
      if (held !== undefined && held.token !== refused) return held.token;
      const scope = computeScopeUnion(last.scope, challenge.scope);
      return requestOnce({ ...challenge, scope });
    },
    async widen(refused, challenge) {
      if (held !== undefined && held.token !== refused) return held.token;
      if (configured !== undefined) {
        throw new AuthorizationError(
          `the server wants the scope "${challenge.scope ?? ''}", which auth.scope does not name`,
        );
      }
      const scope = computeScopeUnion(last.scope ?? known?.scopes, challenge.scope);
      return requestOnce({ ...challenge, scope });
    },
  };
}

/** Makes the library's provider of the client; it refuses any other authorization server than the client's. */
function providerFor(
  { clientId, secret, privateKey, algorithm, issuer }: ClientConfig,
  discovered: string,
): OAuthClientProvider {
  const shared = { clientId, clientName: 'Countersign', expectedIssuer: issuer ?? discovered };
  if (privateKey !== undefined) return new PrivateKeyJwtProvider({ ...shared, privateKey, algorithm });
  if (secret !== undefined) return new ClientCredentialsProvider({ ...shared, clientSecret: secret });
  throw new AuthorizationError('the client has neither a secret nor a key');
}
