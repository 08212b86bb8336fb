import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import type { ToolHelpers } from '../../agent/tool.ts';
import { backOffMs, withTimeout } from '../../agent/util/abort.ts';
import { HttpError, McpServerError } from '../errors.ts';
import { authorizedFetch } from './auth/authorized-fetch.ts';
import type { ListedTool, ServerList } from './build-tools.ts';
import { callTool } from './call-tool.ts';
import {
  ChildTransport,
  isProbeFailure,
  shortMessage,
  startProblem,
  withLastLines,
} from './child-transport.ts';
import { admitTaskResults, TASKS_EXTENSION } from './follow-task.ts';
import { OlderQuestions } from './input-dialog.ts';
import type { Fetch, HttpConfig, Identity, McpConfig } from './mcp-config.ts';

const CLIENT = { name: 'countersign', version: '0.1.0' };
const START_TIMEOUT_MS = 60_000;
/** The longest wait of a start for an answer to the probe; an old server may ignore it, and a new one may be installed first. */
const PROBE_TIMEOUT_MS = 20_000;
const PING_TIMEOUT_MS = 5000;
const END_SESSION_TIMEOUT_MS = 1000;

interface SessionSetup {
  readonly name: string;
  readonly guardedFetch: Fetch | undefined;
  readonly identity?: Identity | undefined;
  /** Skips the probe for the current protocol, which an older server may answer with silence or by ending. */
  readonly isKnownLegacy: boolean;
  readonly signal: AbortSignal;
  /** Called with the whole new list after the server announced a change. */
  readonly onRelisted: (list: ServerList) => void;
}

/** One connection to a server, from the handshake to its end; a lost one is never repaired, only replaced. */
export interface Session {
  readonly peer: string;
  readonly protocol: string | undefined;
  /** True for a local process that speaks an older protocol. */
  readonly isLegacy: boolean;
  /** The tools as listed at the start. */
  readonly list: ServerList;
  /** Resolves with the reason when the connection is lost or closed. */
  readonly lost: Promise<string>;
  /** Lists the tools again; a list that differs reaches `onRelisted` before this resolves. Rejects if the session is lost. */
  relist(): Promise<void>;
  call(tool: ListedTool, input: JsonObject, helpers: ToolHelpers): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Connects to a server and lists its tools; any failure is one error with the server's last lines on stderr. A process that ends
 * on the probe for the current protocol is started once more and greeted in the older way.
 */
export async function openSession(config: McpConfig, setup: SessionSetup): Promise<Session> {
  try {
    return await connect(config, setup);
  } catch (error) {
    const isWorthAnother = config.transport === 'stdio' && !setup.isKnownLegacy && !setup.signal.aborted;
    if (!isWorthAnother || !(error instanceof Error) || !isProbeFailure(error.cause)) throw error;
    return connect(config, { ...setup, isKnownLegacy: true });
  }
}

async function connect(config: McpConfig, setup: SessionSetup): Promise<Session> {
  const { name, signal } = setup;
  const timeout = config.startTimeoutMs ?? START_TIMEOUT_MS;
  const client = createClient(config, setup.isKnownLegacy, timeout);
  const questions = new OlderQuestions(client);
  let lostBecause: string | undefined;
  const ended = new AbortController();
  const { promise: lost, resolve: tellLost } = withResolver<string>();
  const lose = (reason: string) => {
    if (lostBecause !== undefined) return;
    lostBecause = reason;
    tellLost(withLastLines(reason, child));
    ended.abort();
    // Over HTTP nothing else ends the requests that still wait for an answer.
    client.close().catch(() => {});
  };

  const transport = openTransport(config, setup, { onLost: lose, onStream: () => void listing.relist() });
  const child = transport instanceof ChildTransport ? transport : undefined;
  reportLoss(client, child, lose);

  const listing = new ToolList({
    client,
    timeoutMs: timeout,
    isRemote: child === undefined,
    onRelisted: setup.onRelisted,
    // With an old list people would approve calls that the server no longer offers.
    onFailed: (error) => lose(`its tools cannot be listed: ${shortMessage(error)}`),
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => listing.relist());

  let list: ServerList;
  const onAbort = () => {
    lose('it was closed');
    // During the probe the client does not hold the transport yet.
    transport.close().catch(() => {});
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await client.connect(transport, { timeout });
    if (client.getProtocolEra() === 'modern') admitTaskResults(transport);
    list = await listing.read();
    if (lostBecause !== undefined) throw new Error(lostBecause);
  } catch (error) {
    const lostEarlier = lostBecause;
    await client.close().catch(() => {});
    await transport.close();
    const reason = lostEarlier ?? startProblem(error, timeout, child);
    const message = `The MCP server "${name}" cannot be started: ${withLastLines(reason, child)}`;
    throw new McpServerError('cannot-start', name, message, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  listing.open();
  void listenForChanges(client, {
    timeoutMs: timeout,
    signal: ended.signal,
    onOpen: () => void listing.relist(),
  });

  const version = client.getServerVersion();
  return {
    peer: version === undefined ? 'unnamed' : `${version.name} ${version.version}`,
    protocol: client.getNegotiatedProtocolVersion(),
    isLegacy: child !== undefined && client.getProtocolEra() !== 'modern',
    list,
    lost,
    async relist() {
      await listing.relist();
      if (lostBecause === undefined) return;
      throw new McpServerError('down', name, `The MCP server "${name}" is down: the call was not made.`);
    },
    call(tool, input, helpers) {
      const { timeoutMs, longestCallMs = 10 * timeoutMs } = config;
      const isLost = () => lostBecause !== undefined;
      const call = { server: name, tool, input, helpers, questions, timeoutMs, longestCallMs, isLost };
      return callTool(client, call);
    },
    async close() {
      if (!(transport instanceof ChildTransport)) await endSession(transport);
      lose('it was closed');
      await transport.close();
    },
  };
}

/** Creates a client that asks for the current protocol first, unless the server is known to be older. */
function createClient({ transport }: McpConfig, isKnownLegacy: boolean, timeoutMs: number): Client {
  // Over HTTP silence is no sign of an older server.
  const probeMs = transport === 'stdio' ? Math.min(PROBE_TIMEOUT_MS, timeoutMs / 3) : timeoutMs;
  return new Client(CLIENT, {
    capabilities: { elicitation: { form: {}, url: {} }, extensions: { [TASKS_EXTENSION]: {} } },
    // On its own the client would repeat a call that asks for input, up to ten times.
    inputRequired: { autoFulfill: false },
    versionNegotiation: isKnownLegacy ? { mode: 'legacy' } : { mode: 'auto', probe: { timeoutMs: probeMs } },
  });
}

/** Reports a lost connection: of a child process when it closes, over HTTP by the errors of its stream of events. */
function reportLoss(client: Client, child: ChildTransport | undefined, lose: (reason: string) => void): void {
  if (child !== undefined) {
    client.onclose = () => lose(child.ending ?? 'the connection was closed');
    return;
  }
  // Over HTTP a connection closes only when we close it, and then the reason is known.
  client.onerror = ({ message }) => {
    if (message.includes('Maximum reconnection attempts'))
      lose('its stream of events cannot be opened again');
    else if (message.includes('SSE stream disconnected')) {
      // The stream may have held the answer to a call; a request tells whether the server is still there.
      checkAlive(client).catch((error: unknown) => lose(shortMessage(error)));
    }
  };
}

interface ToolListOptions extends Pick<SessionSetup, 'onRelisted'> {
  readonly client: Client;
  readonly timeoutMs: number;
  readonly isRemote: boolean;
  readonly onFailed: (error: unknown) => void;
}

/** The tools of a session, listed again after each change that its server tells of. */
class ToolList {
  readonly #options: ToolListOptions;
  #isStale = false;
  #isOpen = false;
  #listing: Promise<void> | undefined;

  constructor(options: ToolListOptions) {
    this.#options = options;
  }

  async read(): Promise<ServerList> {
    const { client, timeoutMs, isRemote } = this.#options;
    return {
      definitions: await listDefinitions(client, timeoutMs),
      repeatsParameters: isRemote && client.getProtocolEra() === 'modern',
      offersTasks: offersTasks(client),
    };
  }

  /** Tells of changes from now on, and of one before. */
  open(): void {
    this.#isOpen = true;
    if (this.#isStale) void this.relist();
  }

  async relist(): Promise<void> {
    this.#isStale = true;
    if (!this.#isOpen) return;
    this.#listing ??= this.#readUntilFresh();
    await this.#listing;
  }

  async #readUntilFresh(): Promise<void> {
    try {
      while (this.#isStale) {
        this.#isStale = false;
        this.#options.onRelisted(await this.read());
      }
    } catch (error) {
      this.#options.onFailed(error);
    } finally {
      this.#listing = undefined;
    }
  }
}

function openTransport(
  config: McpConfig,
  { name, guardedFetch, identity }: SessionSetup,
  events: ConnectionEvents,
): ChildTransport | StreamableHTTPClientTransport {
  if (config.transport === 'stdio') return new ChildTransport(config);
  if (guardedFetch !== undefined) return openHttpTransport(config, guardedFetch, events, identity);
  throw new McpServerError(
    'cannot-start',
    name,
    `The MCP server "${name}" cannot be reached: no guarded fetch was given, so its address would be unchecked.`,
  );
}

function offersTasks(client: Client): boolean {
  const { tasks, extensions } = client.getServerCapabilities() ?? {};
  if (client.getProtocolEra() === 'modern') return extensions?.[TASKS_EXTENSION] !== undefined;
  return tasks?.requests?.tools?.call !== undefined;
}

/** Sends the smallest request that the protocol in use knows. */
async function checkAlive(client: Client): Promise<void> {
  const options = { timeout: PING_TIMEOUT_MS };
  if (client.getProtocolEra() === 'modern') await client.discover(options);
  else await client.ping(options);
}

/** Tells the server that the session is over; a server that does not answer is not waited for. */
async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  await withTimeout(
    transport.terminateSession().catch(() => {}),
    END_SESSION_TIMEOUT_MS,
  );
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
    if (cursor !== undefined && seen.has(cursor)) throw new Error('its tool list repeats without ending');
    if (definitions.length > MAX_LISTED_TOOLS)
      throw new Error(`it lists more than ${MAX_LISTED_TOOLS} tools`);
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return definitions;
}

const BACK_OFF = { firstMs: 1000, longestMs: 60_000 };

interface ChangeListener {
  readonly timeoutMs: number;
  /** Ends the listening. */
  readonly signal: AbortSignal;
  /** Called whenever the subscription stands; changes before that were not announced. */
  readonly onOpen: () => void;
}

/**
 * Keeps a subscription to changes of the tools open until the signal fires. A server of the current protocol announces changes
 * only to a subscriber; one that refuses is asked again with growing waits, and its list is read before approved calls anyway.
 */
async function listenForChanges(client: Client, listener: ChangeListener): Promise<void> {
  const { timeoutMs, signal, onOpen } = listener;
  if (client.getProtocolEra() !== 'modern') return;
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { timeout: timeoutMs });
      const since = Date.now();
      onOpen();
      await subscription.closed;
      if (Date.now() - since >= BACK_OFF.longestMs) failures = 0;
    } catch {
      // Refused or broken off; a connection that is lost ends the signal.
    }
    await sleep(backOffMs(Math.max(1, failures), BACK_OFF), undefined, { signal, ref: false }).catch(
      () => {},
    );
  }
}

const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

interface ConnectionEvents {
  readonly onLost: (reason: string) => void;
  /** Called whenever the stream of events is open again; announcements before that are lost. */
  readonly onStream: () => void;
}

/** Creates the SDK's transport and reports a server that is gone, which the SDK itself does not notice. */
function openHttpTransport(
  config: HttpConfig,
  guardedFetch: Fetch,
  events: ConnectionEvents,
  identity: Identity | undefined,
): StreamableHTTPClientTransport {
  const watched = watchFetch(guardedFetch, events);
  return new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: { ...config.headers } },
    fetch: identity === undefined ? watched : authorizedFetch(watched, identity),
  });
}

function watchFetch(guardedFetch: Fetch, { onLost, onStream }: ConnectionEvents): Fetch {
  return async (url, init) => {
    let response: Response;
    try {
      response = await guardedFetch(url, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) onLost(`it cannot be reached: ${reasonOf(error)}`);
      throw error;
    }
    if (init?.method === 'GET' && response.ok) onStream();
    if (init?.method !== 'POST') return response;
    // The server may have carried out the call before it redirected us, so what another page says is no refusal.
    if (response.redirected && !response.ok) {
      const { status } = response;
      throw new HttpError('bad-redirect', `it redirects to a page that answered ${status}`, { status });
    }
    // A server that no longer recognizes our session needs a new handshake; a 404 to GET may only mean "no stream".
    if (response.status === 404 && new Headers(init.headers).has('mcp-session-id')) {
      onLost('it no longer recognizes our session');
    }
    return response.ok ? limitBody(response, onLost) : response;
  };
}

function limitBody(response: Response, onLost: ConnectionEvents['onLost']): Response {
  if (response.body === null) return response;
  let seen = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > MAX_ANSWER_BYTES) {
        const reason = `an answer of it is longer than ${MAX_ANSWER_BYTES} bytes`;
        onLost(reason);
        controller.error(new Error(reason));
      } else {
        controller.enqueue(chunk);
      }
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/** Returns the cause under undici's "fetch failed", which has the actual reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return cause.message || code || error.message;
}
