import type { Tool } from '../../agent/tool.ts';

interface SharedConfig {
  /** Stands before the name of every tool of this server. */
  readonly prefix: string;
  /** How long a call may go without an answer or a sign of progress. */
  readonly timeoutMs: number;
  /** How long a call may take in all, however much progress it reports; ten times `timeoutMs` unless given. */
  readonly longestCallMs?: number;
  /** How long the server may take to start and to list its tools. */
  readonly startTimeoutMs?: number;
}

/** A server that runs as a child process; beside `env` it sees `PATH` and `HOME` and nothing else of ours. */
export interface StdioConfig extends SharedConfig {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** A server that is reached over streamable HTTP. */
export interface HttpConfig extends SharedConfig {
  readonly transport: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How one MCP server is reached, with every secret already filled in. */
export type McpConfig = StdioConfig | HttpConfig;

/** What is used in place of the global `fetch`, so that it can refuse addresses. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Where the server's story is told; pino's loggers fit. */
export interface McpLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface McpOptions {
  readonly name: string;
  readonly log: McpLog;
  /** Called with the new list whenever a tool, its definition or a problem has come, gone or changed. */
  readonly onChange: (tools: readonly Tool[]) => void;
  /** Needed for HTTP: without it a server's address would be unchecked. */
  readonly guardedFetch?: Fetch;
  readonly backOff?: BackOffLimits;
}

/** The first wait before a restart, and the longest one. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}
