import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, notDone } from '../../agent/errors.ts';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';
import { backOffMs } from '../../agent/util/abort.ts';
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
  const { name, log, onChange, guardedFetch, identity, identityOf } = options;
  const limits = options.backOff ?? BACK_OFF;
  const closing = new AbortController();
  const events = new EventEmitter<{ connected: [] }>().setMaxListeners(0);
  let state: McpState = 'connecting';
  let session: Session | undefined;
  let listing: Listing = { tools: [], hints: new Map(), digests: new Map(), problems: [] };
  let first: ReadonlyMap<string, string> | undefined;
  let peer: string | undefined;
  let protocol: string | undefined;
  let legacySince: number | undefined;
  let lastError: string | undefined;
  let restarts = 0;
  let failures = 0;
  let retryAt: number | undefined;

  const untilConnected = async (signal: AbortSignal): Promise<void> => {
    if (state === 'connected' || closing.signal.aborted) return;
    const limit = AbortSignal.timeout(options.restartWaitMs ?? RESTART_WAIT_MS);
    await once(events, 'connected', { signal: AbortSignal.any([signal, closing.signal, limit]) }).catch(
      () => {},
    );
  };

  const run = async (called: ListedTool, input: JsonObject, helpers: ToolHelpers): Promise<unknown> => {
    const { name: tool, digest } = called;
    await untilConnected(helpers.signal);
    if (helpers.signal.aborted) throw notSent(helpers);
    const known = listing.digests.get(`${config.prefix}${tool}`);
    if (known !== undefined && known !== digest) {
      const message = `The MCP server "${name}" has changed "${tool}": it was not run; call it again.`;
      throw new McpServerError('changed', name, message);
    }
    if (state === 'connected' && session !== undefined) {
      if (identityOf === undefined) return session.call(called, input, helpers);
      return callAsPerson(config, { name, guardedFetch, identityOf }, { called, input, helpers });
    }
    if (belongsToTask(helpers)) {
      const message = `The MCP server "${name}" is down while it may run "${tool}" as a task; it may or may not have taken effect.`;
      throw new McpServerError('lost', name, message);
    }
    const problem = closing.signal.aborted ? 'is closed' : 'is down and being restarted';
    const advice = closing.signal.aborted ? '' : '; try again in a moment';
    throw new McpServerError(
      'down',
      name,
      `The MCP server "${name}" ${problem}: "${tool}" was not run${advice}.`,
    );
  };

  const useList = (list: ServerList): void => {
    const next = buildTools(list, config.prefix, run);
    if (options.firstSeen === undefined) first ??= next.digests;
    if (fingerprint(next) === fingerprint(listing)) return;
    listing = next;
    for (const { tool, problem } of next.problems) {
      log.warn({ server: name, tool, problem }, 'MCP tool left out');
    }
    try {
      onChange(next.tools);
    } catch (error) {
      log.warn({ server: name, err: error }, 'MCP tools could not be updated');
    }
  };

  /** Runs one session to its end, which is always an error. */
  const runSession = async (): Promise<void> => {
    state = 'connecting';
    retryAt = undefined;
    const knownSince = legacySince;
    const isKnownLegacy = knownSince !== undefined && Date.now() - knownSince < LEGACY_VERDICT_MS;
    // Forgotten until the start succeeds: a server that was upgraded meanwhile may speak the current protocol only.
    legacySince = undefined;
    session = await openSession(config, {
      name,
      guardedFetch,
      identity,
      isKnownLegacy,
      signal: closing.signal,
      onRelisted: useList,
    });
    const since = Date.now();
    if (session.isLegacy) legacySince = isKnownLegacy ? knownSince : since;
    state = 'connected';
    ({ peer, protocol } = session);
    log.info(
      { server: name, peer, protocol, tools: session.list.definitions.length },
      'MCP server connected',
    );
    // As long as nobody knows what was listed first, every tool counts as new.
    first ??= await options
      .firstSeen?.(buildTools(session.list, config.prefix, run).digests)
      .catch((err: unknown) => void log.warn({ server: name, err }, 'first list of tools not read'));
    useList(session.list);
    markReady();
    events.emit('connected');
    const reason = await session.lost;
    state = 'down';
    if (Date.now() - since >= limits.longestMs) failures = 0;
    const ended = session;
    session = undefined;
    await ended.close();
    throw new McpServerError('lost', name, `The MCP server "${name}" went down: ${reason}`);
  };

  const keepConnected = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        await runSession();
      } catch (error) {
        state = 'down';
        if (closing.signal.aborted) break;
        lastError = describeError(error);
        failures += 1;
        const waitMs = backOffMs(failures, limits);
        retryAt = Date.now() + waitMs;
        log.warn({ server: name, reason: lastError, waitMs }, 'MCP server down, restarting');
        markReady();
        await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => {});
        if (!closing.signal.aborted) restarts += 1;
      }
    }
    state = 'down';
    retryAt = undefined;
    markReady();
  };

  let markReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const running = keepConnected();

  return {
    get state() {
      return state;
    },
    ready,
    tools: () => listing.tools,
    hintsOf: (toolName) => listing.hints.get(toolName),
    digestOf: (toolName) => listing.digests.get(toolName),
    hasChanged: (toolName) => first?.get(toolName) !== listing.digests.get(toolName),
    async relist() {
      if (state === 'connected') await session?.relist();
    },
    problems: () => listing.problems,
    describe: () => ({
      name,
      transport: config.transport,
      state,
      peer,
      protocol,
      tools: listing.tools.map((tool) => tool.name),
      problems: listing.problems,
      lastError,
      restarts,
      retryAt,
    }),
    async close() {
      closing.abort();
      await session?.close();
      await running;
    },
  };
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
