import type { Secrets } from '../../secrets.ts';
import type { Fetch, McpConfig } from '../mcp-config.ts';
import type { Identity } from './auth-config.ts';
import { authFetch } from './auth-fetch.ts';
import { createBotIdentity } from './bot-identity.ts';

export interface IdentityParts {
  /** Reaches only addresses that the manifest allows. */
  readonly fetch: Fetch;
  readonly secrets: Pick<Secrets, 'add' | 'remove'>;
}

/** Creates the identity by which a server is connected, if the manifest names one. */
export function createIdentity(config: McpConfig, { fetch, secrets }: IdentityParts): Identity | undefined {
  if (config.transport !== 'http' || config.auth?.as !== 'bot') return undefined;
  return createBotIdentity(config.auth, { serverUrl: config.url, fetch: authFetch(fetch), secrets });
}
