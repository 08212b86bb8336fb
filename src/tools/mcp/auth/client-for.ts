import {
  type AddClientAuthentication,
  type AuthorizationServerMetadata,
  createPrivateKeyJwtAuth,
  type OAuthClientInformation,
} from '@modelcontextprotocol/client';
import type { ConsentSettings } from './auth-config.ts';
import { AuthorizationError } from './authorization-error.ts';

/** The client as an authorization server knows it, and how it proves itself. */
export interface KnownClient {
  readonly information: OAuthClientInformation;
  readonly authenticate: AddClientAuthentication | undefined;
}

/** Returns the configured client, or the one of the metadata document; clients are never registered on the way. */
export function clientFor(
  { auth, clientMetadataUrl }: Pick<ConsentSettings, 'auth' | 'clientMetadataUrl'>,
  metadata: AuthorizationServerMetadata,
): KnownClient {
  const { client } = auth;
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
