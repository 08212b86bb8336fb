import {
  ClientCredentialsProvider,
  computeScopeUnion,
  fetchToken,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from '@modelcontextprotocol/client';
import { AuthorizationError, toAuthorizationError } from '../../errors.ts';
import { guardedFetch } from '../../http/guard/guarded-fetch.ts';
import type { ProxySettings } from '../../http/proxy.ts';
import type { Secrets } from '../../secrets.ts';
import type {
  BotAuth,
  Challenge,
  ClientConfig,
  Fetch,
  Identity,
  McpConfig,
  McpOptions,
} from '../mcp-config.ts';
import type { Accounts } from './ask-for-consent.ts';
import { type Connections, listerIdentity, personIdentity, type RequesterServer } from './connections.ts';
import { type Discovered, discover, selectScope } from './discover.ts';
import { renewalTime } from './grant.ts';

/** A server as the manifest declares it. */
interface DeclaredServer {
  readonly name: string;
  readonly config: McpConfig;
  readonly allowPrivate: readonly string[];
}

interface IdentityParts {
  /** Reaches only addresses that the manifest allows. */
  readonly fetch: Fetch;
  readonly secrets: Pick<Secrets, 'add' | 'remove'>;
  readonly connections?: Connections | undefined;
}

/** The identities by which a server is listed and called, and the check before a call. */
interface Identities extends Pick<McpOptions, 'identity' | 'identityOf'> {
  readonly requester?: RequesterServer;
  readonly accounts?: Accounts;
}

/** Creates the identities of a server, as the manifest says. */
export function createIdentities(
  { name, config }: Pick<DeclaredServer, 'name' | 'config'>,
  { fetch, secrets, connections = NO_CONNECTIONS }: IdentityParts,
): Identities {
  if (config.transport !== 'http' || config.auth === undefined) return {};
  const { auth, url } = config;
  const guarded = authFetch(fetch);
  if (auth.as === 'bot')
    return { identity: createBotIdentity(auth, { serverUrl: url, fetch: guarded, secrets }) };
  const requester = { name, url, auth, fetch: guarded };
  return {
    requester,
    identity: listerIdentity(connections, requester),
    identityOf: (person) => personIdentity(connections, requester, person),
    accounts: {
      missing: async (person) =>
        (await connections.isConnected(requester, person))
          ? undefined
          : { server: name, host: new URL(url).host, person },
      renew: (person) => connections.token(requester, person),
    },
  };
}

/** The reason why a server is not listed outside of the running bot. */
export const ONLY_BOT = 'it wants the account of a person, which only the running bot knows';

async function refuse(): Promise<never> {
  throw new AuthorizationError(ONLY_BOT);
}

const NO_CONNECTIONS: Connections = {
  isConnected: refuse,
  token: refuse,
  renew: refuse,
  widen: refuse,
  someone: refuse,
};

/** Lists those of the servers whose calls run in the name of their requesters, without opening them. */
export function requesterServersOf(
  servers: readonly DeclaredServer[],
  proxy?: ProxySettings | undefined,
): RequesterServer[] {
  return servers.flatMap(({ name, config, allowPrivate }) => {
    if (config.transport !== 'http' || config.auth?.as !== 'requester') return [];
    const { url, auth } = config;
    return [{ name, url, auth, fetch: authFetch(guardedFetch({ allowPrivate, proxy })) }];
  });
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 1024 * 1024;

/** Creates the fetch for metadata and tokens: it sends none of the server's headers, and limits time and size. */
export function authFetch(guardedFetch: Fetch): Fetch {
  return async (url, init = {}) => {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
    const response = await guardedFetch(url, { ...init, signal });
    const { status, statusText, headers } = response;
    const body = await readLimited(response);
    return new Response(body, { status, statusText, headers });
  };
}

async function readLimited(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new Error(`an answer is longer than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

interface IdentityOptions {
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
function createBotIdentity(auth: BotAuth, options: IdentityOptions): Identity {
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
      if (held !== undefined) secrets?.remove(held.token, held.endsAt);
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
