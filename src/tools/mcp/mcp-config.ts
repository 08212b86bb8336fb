import type { Tool } from '../../agent/tool.ts';
import type { BackOffLimits } from '../../agent/util/abort.ts';

interface SharedConfig {
  /** Prepended to the name of every tool of this server. */
  readonly prefix: string;
  /** The time limit for a call without an answer or progress. */
  readonly timeoutMs: number;
  /** The time limit for a whole call, whatever progress it reports; ten times `timeoutMs` by default. */
  readonly longestCallMs?: number;
  /** The time limit for the start and the first list of tools. */
  readonly startTimeoutMs?: number;
}

/** A server that runs as a child process. Of our environment it gets `PATH` and `HOME` only, and its own `env`. */
export interface StdioConfig extends SharedConfig {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** A server over streamable HTTP. */
export interface HttpConfig extends SharedConfig {
  readonly transport: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The identity of the calls; without one the server takes calls from anyone, or knows us by a header. */
  readonly auth?: AuthConfig | undefined;
}

/** The connection to one MCP server, with every secret filled in. */
export type McpConfig = StdioConfig | HttpConfig;

/** A `fetch` that can refuse addresses. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The part of a pino logger that is used here. */
export interface McpLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Keeps the digests of a server's tools as they were listed first, and returns those on record. */
export type FirstSeen = (listed: ReadonlyMap<string, string>) => Promise<ReadonlyMap<string, string>>;

export interface McpOptions {
  readonly name: string;
  readonly log: McpLog;
  /** Called with the new list whenever a tool, its definition or a problem has changed. */
  readonly onChange: (tools: readonly Tool[]) => void;
  /** Required for HTTP: without it a server's address would be unchecked. */
  readonly guardedFetch?: Fetch;
  /** Supplies the token of an HTTP server that wants one. */
  readonly identity?: Identity | undefined;
  /** Supplies the token of the person in whose name a call runs; without it calls run as `identity`. */
  readonly identityOf?: ((person: string) => Identity) | undefined;
  /** Returns the digests that were listed first, by any process; without it those of this process count. */
  readonly firstSeen?: FirstSeen | undefined;
  readonly backOff?: BackOffLimits;
  /** The time that a call waits for a server that is being restarted. */
  readonly restartWaitMs?: number;
}

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
  /** Without one the client is known by the address of its metadata document, or registered for each connection. */
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
