import {
  type AddClientAuthentication,
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  createPrivateKeyJwtAuth,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type OAuthClientInformation,
  registerClient,
} from '@modelcontextprotocol/client';
import { AuthorizationError, toAuthorizationError } from '../../errors.ts';
import type { Challenge, ConsentSettings, Fetch } from '../mcp-config.ts';
import type { RegisteredClient } from './grant.ts';

/** A server's authorization server, and the name by which tokens for the server are asked for. */
export interface Discovered {
  readonly issuer: string;
  /** The resource indicator, as the server's metadata writes it. */
  readonly resource: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The scopes that the server's metadata names. */
  readonly scopes: string | undefined;
}

interface DiscoverOptions {
  readonly challenge: Challenge;
  /** The only authorization server that may be used, if an admin named one. */
  readonly issuer: string | undefined;
  readonly fetch: Fetch;
}

/**
 * Reads the metadata of a server (RFC 9728) and of its authorization server (RFC 8414 or OpenID Connect). Metadata of another resource,
 * and an authorization server that calls itself by another name or is not the expected one, are refused.
 */
export async function discover(serverUrl: string, options: DiscoverOptions): Promise<Discovered> {
  const { challenge, fetch } = options;
  const { resourceMetadataUrl } = challenge;
  try {
    const resource = await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
      fetch,
    );
    const requestedResource = new URL(serverUrl);
    if (!checkResourceAllowed({ requestedResource, configuredResource: resource.resource })) {
      throw new AuthorizationError(`its metadata is for another resource, ${resource.resource}`);
    }
    const issuer = chooseIssuer(resource.authorization_servers ?? [], options.issuer);
    const metadata = await readMetadata(issuer, fetch);
    return {
      issuer: metadata.issuer,
      resource: resource.resource,
      metadata,
      scopes: resource.scopes_supported?.join(' '),
    };
  } catch (error) {
    throw toAuthorizationError('its authorization server cannot be used', error);
  }
}

/** Reads the metadata of an authorization server; metadata by another name is refused (RFC 8414, section 3.3). */
export async function readMetadata(issuer: string, fetch: Fetch): Promise<AuthorizationServerMetadata> {
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (metadata === undefined) throw new AuthorizationError(`${issuer} has no metadata`);
  return metadata;
}

function chooseIssuer(offered: readonly string[], expected: string | undefined): string {
  const [first] = offered;
  if (first === undefined) throw new AuthorizationError('its metadata names no authorization server');
  if (expected === undefined) return first;
  const found = offered.find((issuer) => withoutSlash(issuer) === withoutSlash(expected));
  if (found !== undefined) return found;
  throw new AuthorizationError(`it names ${offered.join(', ')}, but auth.issuer is ${expected}`);
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

/** Selects the scope to ask for: the admin's, what the server asks for, or what its metadata names; with a refresh token where one can be had. */
export function selectScope(
  { metadata, scopes }: Pick<Discovered, 'metadata' | 'scopes'>,
  {
    configured,
    challenged,
    offline,
  }: { configured?: string | undefined; challenged?: string | undefined; offline: boolean },
): string | undefined {
  const scope = configured ?? challenged ?? scopes;
  if (scope === undefined || scope === '') return undefined;
  const isOffered = metadata.scopes_supported?.includes('offline_access') === true;
  const isMissing = !scope.split(' ').includes('offline_access');
  return offline && isOffered && isMissing ? `${scope} offline_access` : scope;
}

/** The client as an authorization server knows it, and how it proves itself. */
interface KnownClient {
  readonly information: OAuthClientInformation;
  readonly authenticate: AddClientAuthentication | undefined;
}

/** Returns the configured client, the one that was registered for the connection, or the one of the metadata document. */
export function clientFor(
  { auth, clientMetadataUrl }: Pick<ConsentSettings, 'auth' | 'clientMetadataUrl'>,
  metadata: AuthorizationServerMetadata,
  registered?: RegisteredClient | undefined,
): KnownClient {
  const { client } = auth;
  if (client === undefined && registered !== undefined) return registeredClient(registered);
  if (client === undefined) return documentClient(clientMetadataUrl, metadata);
  const { clientId, secret, privateKey, algorithm } = client;
  if (privateKey !== undefined) {
    const audience = metadata.issuer;
    const authenticate = createPrivateKeyJwtAuth({
      issuer: clientId,
      subject: clientId,
      privateKey,
      alg: algorithm,
      audience,
    });
    return { information: { client_id: clientId }, authenticate };
  }
  const information = { client_id: clientId, ...(secret !== undefined && { client_secret: secret }) };
  return { information, authenticate: undefined };
}

function registeredClient({ clientId, secret, method }: RegisteredClient): KnownClient {
  const information = {
    client_id: clientId,
    ...(secret !== undefined && { client_secret: secret }),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  };
  return { information, authenticate: undefined };
}

function documentClient(url: string | undefined, metadata: AuthorizationServerMetadata): KnownClient {
  if (metadata.client_id_metadata_document_supported !== true)
    throw new AuthorizationError(
      `${metadata.issuer} takes no client metadata documents; register a client there and name it in auth.client_id`,
    );
  if (url === undefined)
    throw new AuthorizationError(
      'the client metadata document needs an HTTPS address of the bot (PUBLIC_URL)',
    );
  return { information: { client_id: url }, authenticate: undefined };
}

/** Tells whether a client has to be registered before a person can connect, and can be. */
export function needsRegistration(
  { auth, clientMetadataUrl }: Pick<ConsentSettings, 'auth' | 'clientMetadataUrl'>,
  metadata: AuthorizationServerMetadata,
): boolean {
  const hasDocument =
    clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true;
  return auth.client === undefined && !hasDocument && metadata.registration_endpoint !== undefined;
}

const METHODS = ['none', 'client_secret_basic', 'client_secret_post'];

/**
 * Registers a client for one connection, where an admin has named none and the authorization server reads no metadata document. Each
 * connection has its own, so that a client is kept, renewed and lost with its connection.
 */
export async function registerFor(
  settings: ConsentSettings,
  metadata: AuthorizationServerMetadata,
  scope: string | undefined,
): Promise<RegisteredClient | undefined> {
  if (!needsRegistration(settings, metadata)) return undefined;
  const { redirectUrl, fetch } = settings;
  // Without a list the default of RFC 8414 holds.
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = METHODS.find((each) => offered.includes(each));
  if (method === undefined)
    throw new AuthorizationError(`${metadata.issuer} offers no way to authenticate a registered client`);
  const registered = await registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: 'Countersign',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: method,
      application_type: redirectUrl.startsWith('https://') ? 'web' : 'native',
    },
    ...(scope !== undefined && { scope }),
    fetchFn: fetch,
  });
  return {
    clientId: registered.client_id,
    ...(registered.client_secret !== undefined && { secret: registered.client_secret }),
    method: registered.token_endpoint_auth_method ?? method,
  };
}
