import type { Fetch } from '../mcp-config.ts';
import type { RequesterAuth } from './auth-config.ts';

/** The server to which a person connects their account, and the client that asks them. */
export interface ConsentSettings {
  readonly serverUrl: string;
  readonly auth: RequesterAuth;
  /** The address to which the authorization server sends the person back. */
  readonly redirectUrl: string;
  /** The address of the bot's client metadata document, if it is reachable over HTTPS. */
  readonly clientMetadataUrl: string | undefined;
  readonly fetch: Fetch;
}
