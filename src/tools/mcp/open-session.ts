import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { describeError } from '../../agent/util/describe-error.ts';
import { withTimeout } from '../../agent/util/with-timeout.ts';
import { McpServerError } from '../errors.ts';
import { callTool } from './call-tool.ts';
import { ChildTransport } from './child-transport.ts';
import { type ConnectionEvents, openHttpTransport } from './http-transport.ts';
import type { Fetch, McpConfig } from './mcp-config.ts';

const CLIENT = { name: 'countersign', version: '0.1.0' };
const START_TIMEOUT_MS = 60_000;
const PING_TIMEOUT_MS = 5000;
const END_SESSION_TIMEOUT_MS = 1000;
const MAX_REASON_LENGTH = 500;

export interface SessionSetup {
  readonly name: string;
  readonly guardedFetch: Fetch | undefined;
  readonly signal: AbortSignal;
  /** Called with the whole new list after the server announced a change. */
  readonly onRelisted: (definitions: readonly unknown[]) => void;
}

/** One connection to a server, from the handshake to its end; a lost one is never repaired, only replaced. */
export interface Session {
  readonly peer: string;
  /** The tools as listed at the start. */
  readonly definitions: readonly unknown[];
  /** Resolves with the reason when the connection is lost or closed. */
  readonly lost: Promise<string>;
  /** Lists the tools again; a list that differs reaches `onRelisted` before this resolves. Rejects if the session is lost. */
  relist(): Promise<void>;
  call(tool: string, input: JsonObject, helpers: ToolHelpers): Promise<unknown>;
  close(): Promise<void>;
}

/** Connects to a server and lists its tools; any failure is one error with the server's last lines on stderr. */
export async function openSession(config: McpConfig, setup: SessionSetup): Promise<Session> {
  const { name, signal } = setup;
  const timeout = config.startTimeoutMs ?? START_TIMEOUT_MS;
  const client = new Client(CLIENT, { capabilities: {} });
  let lostBecause: string | undefined;
  const { promise: lost, resolve: tellLost } = withResolver<string>();
  const lose = (reason: string) => {
    if (lostBecause !== undefined) return;
    lostBecause = reason;
    tellLost(withLastLines(reason, child));
    // Over HTTP nothing else ends the requests that still wait for an answer.
    client.close().catch(() => {});
  };

  const transport = openTransport(config, setup, { onLost: lose, onStream: () => void relist() });
  const child = transport instanceof ChildTransport ? transport : undefined;
  // Over HTTP a connection closes only when we close it, and then the reason is known.
  if (child !== undefined) client.onclose = () => lose(child.ending ?? 'the connection was closed');
  client.onerror = ({ message }) => {
    if (child !== undefined) return;
    if (message.includes('Maximum reconnection attempts'))
      lose('its stream of events cannot be opened again');
    else if (message.includes('SSE stream disconnected')) {
      // The stream may have held the answer to a call; a ping tells whether the server is still there.
      client.ping({ timeout: PING_TIMEOUT_MS }).catch((error: unknown) => lose(messageOf(error)));
    }
  };

  let isStale = false;
  let isOpen = false;
  let listing: Promise<void> | undefined;
  const listUntilFresh = async () => {
    try {
      while (isStale) {
        isStale = false;
        setup.onRelisted(await listDefinitions(client, timeout));
      }
    } catch (error) {
      // With an old list people would approve calls that the server no longer offers.
      lose(`its tools cannot be listed: ${messageOf(error)}`);
    } finally {
      listing = undefined;
    }
  };
  const relist = async () => {
    isStale = true;
    if (!isOpen) return;
    listing ??= listUntilFresh();
    await listing;
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => relist());

  let definitions: readonly unknown[];
  const onAbort = () => lose('it was closed');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await client.connect(transport, { timeout });
    definitions = await listDefinitions(client, timeout);
    if (lostBecause !== undefined) throw new Error(lostBecause);
  } catch (error) {
    const reason = lostBecause ?? (isTimeout(error) ? timeoutReason(timeout, child) : messageOf(error));
    await client.close().catch(() => {});
    await transport.close();
    // The process may have ended before the client knew why its pipe broke.
    const why = isBroken(error) ? (child?.ending ?? reason) : reason;
    const message = `The MCP server "${name}" cannot be started: ${withLastLines(why, child)}`;
    throw new McpServerError('cannot-start', name, message, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  isOpen = true;
  if (isStale) void relist();

  const version = client.getServerVersion();
  return {
    peer: version === undefined ? 'unnamed' : `${version.name} ${version.version}`,
    definitions,
    lost,
    async relist() {
      await relist();
      if (lostBecause === undefined) return;
      throw new McpServerError('down', name, `The MCP server "${name}" is down: the call was not made.`);
    },
    call(tool, input, helpers) {
      const { timeoutMs, longestCallMs = 10 * timeoutMs } = config;
      const isLost = () => lostBecause !== undefined;
      return callTool(client, { server: name, tool, input, helpers, timeoutMs, longestCallMs, isLost });
    },
    async close() {
      if (!(transport instanceof ChildTransport)) await endSession(transport);
      lose('it was closed');
      await transport.close();
    },
  };
}

function openTransport(
  config: McpConfig,
  { name, guardedFetch }: SessionSetup,
  events: ConnectionEvents,
): ChildTransport | StreamableHTTPClientTransport {
  if (config.transport === 'stdio') return new ChildTransport(config);
  if (guardedFetch !== undefined) return openHttpTransport(config, guardedFetch, events);
  throw new McpServerError(
    'cannot-start',
    name,
    `The MCP server "${name}" cannot be reached: no guarded fetch was given, so its address would be unchecked.`,
  );
}

/** Tells the server that the session is over; a server that does not answer is not waited for. */
async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  await withTimeout(
    transport.terminateSession().catch(() => {}),
    END_SESSION_TIMEOUT_MS,
  );
}

function timeoutReason(timeout: number, child: ChildTransport | undefined): string {
  const reason = `it gave no answer within ${timeout} ms`;
  const garbage = child?.garbage;
  return garbage === undefined ? reason : `${reason}; its output is not MCP but "${garbage}"`;
}

function withLastLines(reason: string, child: ChildTransport | undefined): string {
  const lines = child?.errorLines ?? [];
  return lines.length === 0 ? `${reason}.` : `${reason}. Its last lines on stderr:\n${lines.join('\n')}`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof McpError && error.code === ErrorCode.RequestTimeout;
}

function isBroken(error: unknown): boolean {
  if (error instanceof McpError) return error.code === ErrorCode.ConnectionClosed;
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}

function messageOf(error: unknown): string {
  return describeError(error).slice(0, MAX_REASON_LENGTH);
}

function withResolver<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

// Each tool is parsed by itself later, so that one bad tool does not cost all the others.
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const MAX_LISTED_TOOLS = 1000;

/** Lists all tools of a server, page by page, as the server sent them. */
async function listDefinitions(client: Client, timeoutMs: number): Promise<readonly unknown[]> {
  const definitions: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, Page, { timeout: timeoutMs });
    definitions.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor !== undefined && seen.has(cursor)) throw new Error('its list of tools has no end');
    if (definitions.length > MAX_LISTED_TOOLS)
      throw new Error(`it lists more than ${MAX_LISTED_TOOLS} tools`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return definitions;
}
