import type { Fetch } from '../mcp-config.ts';

/** The OAuth client that the bot is, as an admin has registered it with an authorization server. */
export interface ClientConfig {
  readonly clientId: string;
  /** The authorization server that knows the client; its credentials go to no other. */
  readonly issuer: string | undefined;
  readonly secret: string | undefined;
  /** A PEM key for `private_key_jwt`. */
  readonly privateKey: string | undefined;
  /** The algorithm of the key. */
  readonly algorithm: string;
}

/** One identity for all calls: a token of the environment, or an OAuth client of its own. */
export type BotAuth =
  | { readonly as: 'bot'; readonly token: string }
  | {
      readonly as: 'bot';
      readonly token?: undefined;
      readonly client: ClientConfig;
      readonly scope: string | undefined;
    };

/** Each call in the name of its requester, who has connected their account. */
export interface RequesterAuth {
  readonly as: 'requester';
  /** Without one the client is known by the address of its metadata document. */
  readonly client: ClientConfig | undefined;
  readonly issuer: string | undefined;
  readonly scope: string | undefined;
}

export type AuthConfig = BotAuth | RequesterAuth;

/** The demands of a server in its `WWW-Authenticate` header. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL | undefined;
  readonly scope?: string | undefined;
}

/** Supplies the bearer token of requests to one server. Each method throws an `AuthorizationError` if there is none to be had. */
export interface Identity {
  token(): Promise<string | undefined>;
  /** Called after a 401; returns another token than the refused one. */
  renew(refused: string | undefined, challenge: Challenge): Promise<string>;
  /** Called after a 403 that asks for more scope; returns a token with it. */
  widen(refused: string | undefined, challenge: Challenge): Promise<string>;
}

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
