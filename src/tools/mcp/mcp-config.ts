import type { Tool } from '../../agent/tool.ts';
import type { BackOffLimits } from '../../agent/util/back-off.ts';
import type { AuthConfig, Identity } from './auth/auth-config.ts';

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
  readonly backOff?: BackOffLimits;
  /** The time that a call waits for a server that is being restarted. */
  readonly restartWaitMs?: number;
}
