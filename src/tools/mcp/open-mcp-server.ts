import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, notDone } from '../../agent/errors.ts';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';
import { type BackOffLimits, backOffMs } from '../../agent/util/abort.ts';
import { McpServerError } from '../errors.ts';
import { callerOf } from './auth/ask-for-consent.ts';
import {
  buildTools,
  type ListedTool,
  type Listing,
  type McpHints,
  type McpProblem,
  type ServerList,
} from './build-tools.ts';
import { belongsToTask } from './follow-task.ts';
import type { Fetch, Identity, McpConfig, McpOptions } from './mcp-config.ts';
import { openSession, type Session } from './open-session.ts';

const BACK_OFF = { firstMs: 500, longestMs: 60_000 };
/** A call waits this long for a server that is being restarted. */
const RESTART_WAIT_MS = 10_000;
/** A server that was found to speak an older protocol is asked again after this time. */
const LEGACY_VERDICT_MS = 24 * 60 * 60_000;

type McpState = 'connecting' | 'connected' | 'down';

/** The state of a server, for `doctor`. */
export interface McpDescription {
  readonly name: string;
  readonly transport: McpConfig['transport'];
  readonly state: McpState;
  /** The name and version that the server gave, once it was reached. */
  readonly peer: string | undefined;
  /** The version of the protocol that was agreed on, once it was reached. */
  readonly protocol: string | undefined;
  readonly tools: readonly string[];
  readonly problems: readonly McpProblem[];
  /** The reason why it is down, or was down last. */
  readonly lastError: string | undefined;
  /** The number of restarts since it was opened. */
  readonly restarts: number;
  /** The time of the next attempt in milliseconds since 1970, while it is down. */
  readonly retryAt: number | undefined;
}

/** An MCP server as a set of tools. A server that is down is restarted until it is closed; none of these methods throws for it. */
export interface McpServer {
  readonly state: McpState;
  /** Resolves after the first attempt, whether it connected or not. */
  readonly ready: Promise<void>;
  /** Returns the tools as last listed. While the server is down they wait for its restart, then fail with one clear error. */
  tools(): readonly Tool[];
  hintsOf(toolName: string): McpHints | undefined;
  /** Returns the digest of a tool's definition as last listed. */
  digestOf(toolName: string): string | undefined;
  /** Tells whether a tool is new or has changed since the server's first list, also that of an earlier process. */
  hasChanged(toolName: string): boolean;
  /** Lists the tools again, if the server is connected; rejects if it is lost over that. */
  relist(): Promise<void>;
  problems(): readonly McpProblem[];
  describe(): McpDescription;
  /** Ends the server, its calls and its restarts; resolves when its process is gone. */
  close(): Promise<void>;
}

/** Connects to a server and keeps it connected; returns without waiting for the connection. */
export function openMcpServer(config: McpConfig, options: McpOptions): McpServer {
  return new RestartedServer(config, options);
}

/** A server that has one session after the other, with a growing wait between those that fail. */
class RestartedServer implements McpServer {
  readonly ready: Promise<void>;
  readonly #config: McpConfig;
  readonly #options: McpOptions;
  readonly #limits: BackOffLimits;
  readonly #closing = new AbortController();
  readonly #events = new EventEmitter<{ connected: [] }>().setMaxListeners(0);
  readonly #running: Promise<void>;
  #markReady: () => void = () => {};
  #state: McpState = 'connecting';
  #session: Session | undefined;
  #listing: Listing = { tools: [], hints: new Map(), digests: new Map(), problems: [] };
  /** The digests that were listed first, once they are known. */
  #first: ReadonlyMap<string, string> | undefined;
  #peer: string | undefined;
  #protocol: string | undefined;
  #legacySince: number | undefined;
  #lastError: string | undefined;
  #restarts = 0;
  #failures = 0;
  #retryAt: number | undefined;

  constructor(config: McpConfig, options: McpOptions) {
    this.#config = config;
    this.#options = options;
    this.#limits = options.backOff ?? BACK_OFF;
    this.ready = new Promise<void>((resolve) => {
      this.#markReady = resolve;
    });
    this.#running = this.#keepConnected();
  }

  get state(): McpState {
    return this.#state;
  }

  tools(): readonly Tool[] {
    return this.#listing.tools;
  }

  hintsOf(toolName: string): McpHints | undefined {
    return this.#listing.hints.get(toolName);
  }

  digestOf(toolName: string): string | undefined {
    return this.#listing.digests.get(toolName);
  }

  hasChanged(toolName: string): boolean {
    return this.#first?.get(toolName) !== this.#listing.digests.get(toolName);
  }

  async relist(): Promise<void> {
    if (this.#state === 'connected') await this.#session?.relist();
  }

  problems(): readonly McpProblem[] {
    return this.#listing.problems;
  }

  describe(): McpDescription {
    return {
      name: this.#options.name,
      transport: this.#config.transport,
      state: this.#state,
      peer: this.#peer,
      protocol: this.#protocol,
      tools: this.#listing.tools.map((tool) => tool.name),
      problems: this.#listing.problems,
      lastError: this.#lastError,
      restarts: this.#restarts,
      retryAt: this.#retryAt,
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#session?.close();
    await this.#running;
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#runSession();
      } catch (error) {
        this.#state = 'down';
        if (signal.aborted) break;
        await this.#waitToRestart(error);
      }
    }
    this.#state = 'down';
    this.#retryAt = undefined;
    this.#markReady();
  }

  async #waitToRestart(error: unknown): Promise<void> {
    const { name, log } = this.#options;
    const { signal } = this.#closing;
    this.#lastError = describeError(error);
    this.#failures += 1;
    const waitMs = backOffMs(this.#failures, this.#limits);
    this.#retryAt = Date.now() + waitMs;
    log.warn({ server: name, reason: this.#lastError, waitMs }, 'MCP server down, restarting');
    this.#markReady();
    await sleep(waitMs, undefined, { signal }).catch(() => {});
    if (!signal.aborted) this.#restarts += 1;
  }

  /** Runs one session to its end, which is always an error. */
  async #runSession(): Promise<void> {
    const { name } = this.#options;
    this.#state = 'connecting';
    this.#retryAt = undefined;
    const session = await this.#openSession();
    const since = Date.now();
    await this.#useSession(session);
    const reason = await session.lost;
    this.#state = 'down';
    if (Date.now() - since >= this.#limits.longestMs) this.#failures = 0;
    this.#session = undefined;
    await session.close();
    throw new McpServerError('lost', name, `The MCP server "${name}" went down: ${reason}`);
  }

  /** Opens a session, in the older way if that is how the server was found to speak lately. */
  async #openSession(): Promise<Session> {
    const { name, guardedFetch, identity } = this.#options;
    const knownSince = this.#legacySince;
    const isKnownLegacy = knownSince !== undefined && Date.now() - knownSince < LEGACY_VERDICT_MS;
    // Forgotten until the start succeeds: a server that was upgraded meanwhile may speak the current protocol only.
    this.#legacySince = undefined;
    this.#session = await openSession(this.#config, {
      name,
      guardedFetch,
      identity,
      isKnownLegacy,
      signal: this.#closing.signal,
      onRelisted: (list) => this.#useList(list),
    });
    if (this.#session.isLegacy) this.#legacySince = isKnownLegacy ? knownSince : Date.now();
    return this.#session;
  }

  /** Offers the tools of a session, and lets the calls go on that wait for it. */
  async #useSession({ peer, protocol, list }: Session): Promise<void> {
    const { name, log } = this.#options;
    this.#state = 'connected';
    this.#peer = peer;
    this.#protocol = protocol;
    log.info({ server: name, peer, protocol, tools: list.definitions.length }, 'MCP server connected');
    // As long as nobody knows what was listed first, every tool counts as new.
    this.#first ??= await this.#options
      .firstSeen?.(this.#toolsIn(list).digests)
      .catch((err: unknown) => void log.warn({ server: name, err }, 'first list of tools not read'));
    this.#useList(list);
    this.#markReady();
    this.#events.emit('connected');
  }

  #toolsIn(list: ServerList): Listing {
    return buildTools(list, this.#config.prefix, (called, input, helpers) =>
      this.#call(called, input, helpers),
    );
  }

  #useList(list: ServerList): void {
    const { name, log, onChange, firstSeen } = this.#options;
    const next = this.#toolsIn(list);
    if (firstSeen === undefined) this.#first ??= next.digests;
    if (fingerprint(next) === fingerprint(this.#listing)) return;
    this.#listing = next;
    for (const { tool, problem } of next.problems) {
      log.warn({ server: name, tool, problem }, 'MCP tool left out');
    }
    try {
      onChange(next.tools);
    } catch (error) {
      log.warn({ server: name, err: error }, 'MCP tools could not be updated');
    }
  }

  /** Makes one call of a tool as it was listed, once the server is connected. */
  async #call(called: ListedTool, input: JsonObject, helpers: ToolHelpers): Promise<unknown> {
    const { name, guardedFetch, identityOf } = this.#options;
    const { name: tool, digest } = called;
    await this.#untilConnected(helpers.signal);
    if (helpers.signal.aborted) throw notSent(helpers);
    const known = this.#listing.digests.get(`${this.#config.prefix}${tool}`);
    if (known !== undefined && known !== digest) {
      const message = `The MCP server "${name}" has changed "${tool}": it was not run; call it again.`;
      throw new McpServerError('changed', name, message);
    }
    if (this.#state !== 'connected' || this.#session === undefined) throw this.#unreachable(tool, helpers);
    if (identityOf === undefined) return this.#session.call(called, input, helpers);
    return callAsPerson(this.#config, { name, guardedFetch, identityOf }, { called, input, helpers });
  }

  async #untilConnected(signal: AbortSignal): Promise<void> {
    const closing = this.#closing.signal;
    if (this.#state === 'connected' || closing.aborted) return;
    const limit = AbortSignal.timeout(this.#options.restartWaitMs ?? RESTART_WAIT_MS);
    const signals = AbortSignal.any([signal, closing, limit]);
    await once(this.#events, 'connected', { signal: signals }).catch(() => {});
  }

  /** Builds the error of a call while there is no connection: it did nothing, unless an earlier run has started a task. */
  #unreachable(tool: string, helpers: ToolHelpers): McpServerError {
    const { name } = this.#options;
    if (belongsToTask(helpers)) {
      const message = `The MCP server "${name}" is down while it may run "${tool}" as a task; it may or may not have taken effect.`;
      return new McpServerError('lost', name, message);
    }
    const isClosed = this.#closing.signal.aborted;
    const problem = isClosed ? 'is closed' : 'is down and being restarted';
    const advice = isClosed ? '' : '; try again in a moment';
    const message = `The MCP server "${name}" ${problem}: "${tool}" was not run${advice}.`;
    return new McpServerError('down', name, message);
  }
}

/** Builds the error of a call that was stopped before it was sent: it did nothing, unless an earlier run has started a task. */
function notSent(helpers: Pick<ToolHelpers, 'signal' | 'resumed'>): unknown {
  const { reason } = helpers.signal;
  // Other calls, which were sent, end with the same reason: it must not be marked itself.
  return belongsToTask(helpers) ? reason : notDone(new Error(describeError(reason), { cause: reason }));
}

function fingerprint({ digests, problems }: Listing): string {
  return canonicalJson(toJson({ digests: [...digests], problems }));
}

interface PersonSetup {
  readonly name: string;
  readonly guardedFetch: Fetch | undefined;
  readonly identityOf: (person: string) => Identity;
}

interface PersonCall {
  readonly called: ListedTool;
  readonly input: JsonObject;
  readonly helpers: ToolHelpers;
}

/**
 * Makes one call in the name of its requester, over a connection of its own: a session belongs to one person, and after a disconnect none is
 * left. The call is made only if the server offers this person the tool that was approved.
 */
async function callAsPerson(
  config: McpConfig,
  { name, guardedFetch, identityOf }: PersonSetup,
  { called, input, helpers }: PersonCall,
): Promise<unknown> {
  const person = callerOf(helpers.context);
  const isFollowing = belongsToTask(helpers);
  const refuse = (reason: string, cause?: unknown) => {
    const subject = `"${called.name}" of the MCP server "${name}"`;
    const message = isFollowing
      ? `The task of ${subject} cannot be followed: ${reason}; it may or may not have taken effect.`
      : `${subject} was not run: ${reason}`;
    return new McpServerError(isFollowing ? 'lost' : 'refused', name, message, { cause });
  };
  if (person === undefined) throw refuse('nobody asked for it');
  const session = await openSession(config, {
    name,
    guardedFetch,
    identity: identityOf(person),
    isKnownLegacy: false,
    signal: helpers.signal,
    onRelisted: () => {},
  }).catch((error: unknown) => {
    helpers.signal.throwIfAborted();
    throw refuse(error instanceof Error ? error.message : String(error), error);
  });
  try {
    const { digests } = buildTools(session.list, '', async () => undefined);
    if (!isFollowing && digests.get(called.name) !== called.digest)
      throw refuse('the server offers the requester another tool');
    return await session.call(called, input, helpers);
  } finally {
    await session.close();
  }
}
