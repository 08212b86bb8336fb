import { finishConsent, startConsent } from '../src/tools/mcp/auth/consent.ts';
import type { Grant } from '../src/tools/mcp/auth/grant.ts';
import type {
  Challenge,
  ClientConfig,
  ConsentSettings,
  Fetch,
  Identity,
} from '../src/tools/mcp/mcp-config.ts';

export interface PersonOptions {
  readonly serverUrl: string;
  readonly fetch: Fetch;
  /** The client that the scenario has registered, if it names one. */
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
}

/** The address that the suite expects as the client's metadata document. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';
const REDIRECT_URL = 'http://localhost:3000/callback';

/** The identity of a person who agrees whenever they are asked: the authorization of the bot, with a browser that follows one link. */
export function personAtBrowser({ serverUrl, fetch, clientId, clientSecret }: PersonOptions): Identity {
  let grant: Grant | undefined;
  const settings: ConsentSettings = {
    serverUrl,
    auth: { as: 'requester', client: toClient(clientId, clientSecret), issuer: undefined, scope: undefined },
    redirectUrl: REDIRECT_URL,
    clientMetadataUrl: CLIENT_METADATA_URL,
    fetch,
  };
  const agree = async (challenge: Challenge): Promise<string> => {
    const { authorizationUrl, pending } = await startConsent(settings, {
      challenge,
      state: 'one',
      granted: grant?.scope,
    });
    const answer = await fetch(authorizationUrl, { redirect: 'manual' });
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`the authorization server answered with ${answer.status}`);
    const returned = new URL(location).searchParams;
    if (process.env.CONFORMANCE_HOLE === 'any-issuer') returned.set('iss', pending.issuer);
    grant = await finishConsent(settings, pending, returned);
    return grant.accessToken;
  };
  return {
    token: async () => grant?.accessToken,
    renew: (_refused, challenge) => agree(challenge),
    widen: (_refused, challenge) => agree(challenge),
  };
}

function toClient(clientId: string | undefined, secret: string | undefined): ClientConfig | undefined {
  if (clientId === undefined) return undefined;
  return { clientId, issuer: undefined, secret, privateKey: undefined, algorithm: 'RS256' };
}
