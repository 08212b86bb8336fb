import { setTimeout as delay } from 'node:timers/promises';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Tool, ToolHelpers } from '../../agent/tool.ts';
import { McpServerError } from '../errors.ts';
import { BackOff } from './back-off.ts';
import { buildTools, type Listing, type McpHints, type McpProblem } from './build-tools.ts';
import type { McpConfig, McpOptions } from './mcp-config.ts';
import { openSession, type Session } from './open-session.ts';

const BACK_OFF = { firstMs: 500, longestMs: 60_000 };

export type McpState = 'connecting' | 'connected' | 'down';

/** How a server is doing, for `doctor` and for people. */
export interface McpDescription {
  readonly name: string;
  readonly transport: McpConfig['transport'];
  readonly state: McpState;
  /** What the server calls itself, once it has been reached. */
  readonly peer: string | undefined;
  readonly tools: readonly string[];
  readonly problems: readonly McpProblem[];
  /** Why it is down, or was last. */
  readonly lastError: string | undefined;
  /** How often it was started anew since it was opened. */
  readonly restarts: number;
  /** When it is tried again, in milliseconds since 1970, while it is down. */
  readonly retryAt: number | undefined;
}

/** A whole MCP server as tools. It never throws for a server's sake: a server that is down is tried again until closed. */
export interface McpServer {
  readonly state: McpState;
  /** Resolves when the first try is over, whether the server came up or not. */
  readonly ready: Promise<void>;
  /** The tools as last listed, also while the server is down; they then answer with one clear error. */
  tools(): readonly Tool[];
  hintsOf(toolName: string): McpHints | undefined;
  problems(): readonly McpProblem[];
  describe(): McpDescription;
  /** Ends the server, its calls and its restarts; resolves when its process is gone. */
  close(): Promise<void>;
}

/** Connects to a server and keeps it connected; returns at once. */
export function openMcpServer(config: McpConfig, options: McpOptions): McpServer {
  const { name, log, onChange, guardedFetch } = options;
  const limits = options.backOff ?? BACK_OFF;
  const backOff = new BackOff(limits);
  const closing = new AbortController();
  let state: McpState = 'connecting';
  let session: Session | undefined;
  let listing: Listing = { tools: [], hints: new Map(), problems: [] };
  let peer: string | undefined;
  let lastError: string | undefined;
  let restarts = 0;
  let retryAt: number | undefined;

  const run = async (tool: string, input: JsonObject, helpers: ToolHelpers): Promise<unknown> => {
    if (state === 'connected' && session !== undefined) return session.call(tool, input, helpers);
    const trouble = closing.signal.aborted ? 'is closed' : 'is down and being restarted';
    const advice = closing.signal.aborted ? '' : '; try again in a moment';
    throw new McpServerError(
      'down',
      name,
      `The MCP server "${name}" ${trouble}: "${tool}" was not run${advice}.`,
    );
  };

  const takeList = (definitions: readonly unknown[]): void => {
    const next = buildTools(definitions, config.prefix, run);
    if (fingerprint(next) === fingerprint(listing)) return;
    listing = next;
    for (const { tool, problem } of next.problems) {
      log.warn({ server: name, tool, problem }, 'A tool of an MCP server is left out.');
    }
    try {
      onChange(next.tools);
    } catch (error) {
      log.warn({ server: name, err: error }, 'The new tools of an MCP server could not be taken over.');
    }
  };

  const serve = async (): Promise<void> => {
    state = 'connecting';
    retryAt = undefined;
    session = await openSession(config, {
      name,
      guardedFetch,
      signal: closing.signal,
      onRelisted: takeList,
    });
    const since = Date.now();
    state = 'connected';
    peer = session.peer;
    log.info({ server: name, peer, tools: session.definitions.length }, 'An MCP server is connected.');
    takeList(session.definitions);
    markReady();
    const reason = await session.lost;
    state = 'down';
    if (Date.now() - since >= limits.longestMs) backOff.reset();
    const ended = session;
    session = undefined;
    await ended.close();
    throw new McpServerError('lost', name, `The MCP server "${name}" went down: ${reason}`);
  };

  const keepServing = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        await serve();
      } catch (error) {
        state = 'down';
        if (closing.signal.aborted) break;
        lastError = error instanceof Error ? error.message : String(error);
        const waitMs = backOff.nextMs();
        retryAt = Date.now() + waitMs;
        log.warn(
          { server: name, reason: lastError, waitMs },
          'An MCP server is down and will be tried again.',
        );
        markReady();
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => {});
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
  const serving = keepServing();

  return {
    get state() {
      return state;
    },
    ready,
    tools: () => listing.tools,
    hintsOf: (toolName) => listing.hints.get(toolName),
    problems: () => listing.problems,
    describe: () => ({
      name,
      transport: config.transport,
      state,
      peer,
      tools: listing.tools.map((tool) => tool.name),
      problems: listing.problems,
      lastError,
      restarts,
      retryAt,
    }),
    async close() {
      closing.abort();
      await session?.close();
      await serving;
    },
  };
}

function fingerprint({ tools, hints, problems }: Listing): string {
  const definitions = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: inputSchema.jsonSchema,
  }));
  return canonicalJson(toJson({ definitions, hints: [...hints], problems }));
}
