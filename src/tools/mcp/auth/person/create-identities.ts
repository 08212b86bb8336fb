import { guardedFetch } from '../../../http/guard/guarded-fetch.ts';
import type { ProxySettings } from '../../../http/proxy.ts';
import type { Manifest, McpDeclaration } from '../../../manifest/manifest.ts';
import type { Secrets } from '../../../secrets.ts';
import type { Fetch, McpOptions } from '../../mcp-config.ts';
import { authFetch } from '../auth-fetch.ts';
import { AuthorizationError } from '../authorization-error.ts';
import { createBotIdentity } from '../bot-identity.ts';
import type { Accounts } from './ask-for-consent.ts';
import { type Connections, listerIdentity, personIdentity, type RequesterServer } from './connections.ts';

export interface IdentityParts {
  /** Reaches only addresses that the manifest allows. */
  readonly fetch: Fetch;
  readonly secrets: Pick<Secrets, 'add' | 'remove'>;
  readonly connections?: Connections | undefined;
}

/** The identities by which a server is listed and called, and the check before a call. */
export interface Identities extends Pick<McpOptions, 'identity' | 'identityOf'> {
  readonly requester?: RequesterServer;
  readonly accounts?: Accounts;
}

/** Creates the identities of a server, as the manifest says. */
export function createIdentities(
  { name, config }: Pick<McpDeclaration, 'name' | 'config'>,
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

/** Lists the servers of a manifest whose calls run in the name of their requesters, without opening them. */
export function requesterServersOf(
  { tools }: Pick<Manifest, 'tools'>,
  proxy?: ProxySettings | undefined,
): RequesterServer[] {
  return tools.flatMap((declaration) => {
    if (declaration.kind !== 'mcp' || declaration.config.transport !== 'http') return [];
    const { name, config, allowPrivate } = declaration;
    const { url, auth } = config;
    if (auth?.as !== 'requester') return [];
    return [{ name, url, auth, fetch: authFetch(guardedFetch({ allowPrivate, proxy })) }];
  });
}
