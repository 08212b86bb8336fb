import {
  type AuthInfo,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  localhostAllowedHostnames,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  canonicalJson,
  findLossyNumber,
  isDeeperThan,
  isJsonObject,
  toJson,
  tryParseJson,
} from '../agent/json.ts';
import { JsonRecord } from '../agent/json-schema.ts';
import type { HttpAnswer } from '../http/http-answer.ts';
import type { HttpRequest, HttpRoutes } from '../http/http-part.ts';
import type { CallerDeclaration } from '../tools/callers.ts';
import type { Door, ListedTool } from './door.ts';
import { madeAt } from './find-request.ts';
import type { Identities, Proven } from './identity.ts';
import { Cancellations } from './mcp-cancellations.ts';
import { type Answered, accept, type Problem, refuse } from './problems.ts';
import { problemAnswer, problemOf } from './rest.ts';
import { isFinal, type RunView } from './run-view.ts';
import type { WaitingPlaces } from './waiting-places.ts';

interface McpContext {
  readonly door: Door;
  readonly identities: Identities;
  readonly places: WaitingPlaces;
  /** Where callers reach the bot; no other host is served but this machine's own names. */
  readonly publicUrl: string;
  readonly logger: Logger;
  /** Counts an answer, by caller and status. */
  readonly count: (caller: string, status: number) => void;
  /** The time that a client without tasks is kept waiting. */
  readonly waitMs?: number;
}

/** The MCP server of the door. */
export interface McpDoor extends HttpRoutes {
  /** Ends all streams; what was asked for goes on. */
  close(): Promise<void>;
}

const PATH = '/mcp';
const SERVER = { name: 'countersign', version: '0.1.0' };
const TASKS = 'io.modelcontextprotocol/tasks';
/** Clients give up after 60 s. */
const WAIT_MS = 50_000;
const PROGRESS_MS = 3_000;
/** A call that ends within this time is answered at once: it becomes no task, and nobody is told of progress. */
const QUICK_MS = 500;
const STEP_MS = 50;
const POLL_MS = 2_000;
const MAX_DEPTH = 100;
const MISSING_CAPABILITY = -32021;

const AboutTask = z.looseObject({ taskId: z.string().max(200) });
/** The message with which clients of older protocols cancel a call. */
const Cancelled = z.looseObject({
  method: z.literal('notifications/cancelled'),
  params: z.looseObject({ requestId: z.union([z.string(), z.number()]) }),
});
const AboutRequest = z.strictObject({ request: z.string().max(200) });
const Envelope = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({ extensions: z.record(z.string(), z.unknown()) }),
});

/** Asks what became of a call, for clients without tasks. A tool of the manifest with this name is not served here. */
const CHECK = {
  name: 'check_request',
  description:
    'Reads what became of an earlier call that waits for people: its result, or that it still waits. Changes nothing.',
  inputSchema: {
    type: 'object' as const,
    properties: { request: { type: 'string' as const, description: 'The id of the request.' } },
    required: ['request'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

/**
 * Serves the tools of a caller over MCP. A call is a Run of the door, and a task is a name for it: the task's id is that of the Run, so that
 * it is durable before it is returned and belongs to its caller alone. The caller's token ends here.
 */
export function openMcp(context: McpContext): McpDoor {
  const { identities, logger, count } = context;
  // The library hands this object on as it is, without looking into it.
  const served = new WeakMap<AuthInfo, Asked>();
  const waiter = createWaiter(context);
  const cancellations = new Cancellations(context.door);
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const asked = authInfo && served.get(authInfo);
      if (asked === undefined) throw new Error('A request reached the MCP server without a caller');
      return buildServer({ ...context, ...asked, waiter, cancellations, isCurrent: era === 'modern' });
    },
    { onerror: (err) => logger.debug({ err }, 'MCP request refused') },
  );
  const hosts = [new URL(context.publicUrl).hostname, ...localhostAllowedHostnames()];
  const serve = async (request: HttpRequest, proven: Proven): Promise<Answered<Response>> => {
    const body = await readMessage(request);
    if (!body.ok) return body;
    const authInfo: AuthInfo = { token: '', clientId: proven.caller.name, scopes: [] };
    served.set(authInfo, { proven, gone: request.signal });
    const { text, parsedBody } = body.value;
    const cancelled = Cancelled.safeParse(parsedBody).data?.params.requestId;
    if (cancelled !== undefined) cancellations.cancel(proven.caller, cancelled);
    const parsed = parsedBody === undefined ? { authInfo } : { authInfo, parsedBody };
    return accept(await handler.fetch(toWebRequest(request, text), parsed));
  };
  const answer = async (request: HttpRequest): Promise<HttpAnswer | Response> => {
    const { host, origin, authorization } = request.headers;
    if (!validateHostHeader(host, hosts).ok || !validateOriginHeader(origin, hosts).ok) {
      count('', 403);
      return forbidden();
    }
    const proven = await identities.prove(authorization);
    const given = proven.ok ? await serve(request, proven.value) : proven;
    const answered = given.ok ? given.value : problemAnswer(given.problem);
    const caller = proven.ok ? proven.value.caller.name : '';
    count(caller, answered.status);
    logger.info({ caller, method: request.method, path: PATH, status: answered.status }, 'door answered');
    return answered;
  };
  return {
    // The library answers these methods; others cannot even be handed to it.
    routes: (['POST', 'GET', 'DELETE'] as const).map((method) => ({ method, path: PATH, answer })),
    refuse: (unrouted) => problemAnswer(problemOf(unrouted)),
    close: () => handler.close(),
  };
}

interface CallParams {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
}

/** A request of a client that has proven whose it is. */
interface Asked {
  readonly proven: Proven;
  /** Aborted when the client has closed the stream of its answer. */
  readonly gone: AbortSignal;
}

interface Served extends McpContext, Asked {
  readonly waiter: Waiter;
  readonly cancellations: Cancellations;
  /** Whether the client speaks the protocol 2026-07-28, in which calls can become tasks. */
  readonly isCurrent: boolean;
}

function buildServer(served: Served): Server {
  const { door, identities, proven, waiter, cancellations, gone, isCurrent, logger } = served;
  const guarded = guardWith(logger);
  const { caller } = proven;
  const server = new Server(SERVER, {
    capabilities: { tools: {}, ...(isCurrent && { extensions: { [TASKS]: {} } }) },
    instructions:
      'Some calls wait until people have approved them in Slack. Do not repeat a call that waits: the same call is the same request.',
  });
  const takesTasks = (context: ServerContext) => isCurrent && declaresTasks(context);

  server.setRequestHandler('tools/list', (_request, context) => {
    const tools = door
      .tools(caller)
      .filter(({ name }) => name !== CHECK.name)
      .map(listedTool);
    return { tools: takesTasks(context) ? tools : [...tools, CHECK] };
  });

  const call = async (params: CallParams, context: ServerContext) => {
    const { name: tool } = params;
    const input = JsonRecord.parse(params.arguments ?? {});
    if (tool === CHECK.name) {
      const about = AboutRequest.safeParse(input);
      if (!about.success) return failure('"request" is the id of a request.');
      const found = await waiter(caller, about.data.request, context);
      return found.ok ? resultOf(found.value) : failure(found.problem.detail);
    }
    const bound = await identities.bind(proven, `mcp ${canonicalJson(toJson({ tool, input }))}`);
    if (!bound.ok) return failure(bound.problem.detail);
    const submitted = await door.submitRun(caller, { tool, input });
    if (!submitted.ok) return refusalOf(submitted.problem, tool);
    const { isNew, view: opened } = submitted.value;
    const { id } = opened;
    const asTask = takesTasks(context);
    // Before the protocol 2026-07-28 a client that is gone may come back; it cancels in words.
    const cancelledBy = isCurrent ? gone : context.mcpReq.id;
    const view = await cancellations.follow(id, { caller, isNew, cancelledBy }, () =>
      asTask ? settle(door, caller, id) : waiter(caller, id, context),
    );
    if (!view.ok) return failure(view.problem.detail);
    // The library knows no such result of a call; the extension defines it.
    if (asTask && !isFinal(view.value.status))
      return { resultType: 'task', ...taskOf(view.value, false) } as never;
    return resultOf(view.value);
  };
  server.setRequestHandler('tools/call', ({ params }, context) => guarded(() => call(params, context)));
  if (isCurrent) serveTasks(server, { door, identities, proven, logger });
  return server;
}

/**
 * Describes a tool with the hints that the manifest stands for. The form of its result is left out: clients refuse an answer without a
 * result where they know one, and a call that waits has none yet.
 */
function listedTool({ name, description, input_schema, effect }: ListedTool): Tool {
  const hints =
    effect === 'none'
      ? { readOnlyHint: true }
      : { readOnlyHint: false, idempotentHint: effect === 'idempotent' };
  return { name, description, inputSchema: { ...input_schema, type: 'object' }, annotations: hints };
}

/** Serves the methods of the extension; a task of another caller is as unknown as one that never was. */
function serveTasks(
  server: Server,
  { door, identities, proven, logger }: Pick<Served, 'door' | 'identities' | 'proven' | 'logger'>,
): void {
  const guarded = guardWith(logger);
  const { caller } = proven;
  const about = async (taskId: string, context: ServerContext): Promise<RunView> => {
    requireTasks(context);
    const found = await door.read(caller, taskId);
    if (found.ok) return found.value;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such task');
  };
  server.setRequestHandler('tasks/get', { params: AboutTask }, ({ taskId }, context) =>
    guarded(async () => taskOf(await about(taskId, context), true)),
  );
  // People answer in Slack; a task asks its client for nothing.
  server.setRequestHandler('tasks/update', { params: AboutTask }, ({ taskId }, context) =>
    guarded(async () => {
      await about(taskId, context);
      return {};
    }),
  );
  const cancel = async (taskId: string, context: ServerContext) => {
    const view = await about(taskId, context);
    if (isFinal(view.status)) return {};
    const bound = await identities.bind(proven, `mcp cancel ${taskId}`);
    if (!bound.ok) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, bound.problem.detail);
    // What has started goes on, and its end is read as that of any task.
    await door.withdraw(caller, taskId);
    return {};
  };
  server.setRequestHandler('tasks/cancel', { params: AboutTask }, ({ taskId }, context) =>
    guarded(() => cancel(taskId, context)),
  );
}

/** Runs the work of a request. The library would tell the client the words of any error; an outage is for our log alone. */
function guardWith(logger: Logger): <Value>(work: () => Promise<Value>) => Promise<Value> {
  return async (work) => {
    try {
      return await work();
    } catch (err) {
      if (err instanceof ProtocolError) throw err;
      logger.error({ err }, 'MCP request failed');
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Something went wrong here. Try again later.');
    }
  };
}

type Waiter = (caller: CallerDeclaration, id: string, context: ServerContext) => Promise<Answered<RunView>>;

/** Keeps a client without tasks waiting for the end of a request, and tells it of its progress. */
function createWaiter({ door, places, waitMs = WAIT_MS }: McpContext): Waiter {
  return async (caller, id, { mcpReq }) => {
    const leave = places.take(caller.name);
    if (leave === undefined) return door.read(caller, id);
    try {
      const { signal } = mcpReq;
      const progressToken = mcpReq._meta?.progressToken;
      const until = performance.now() + waitMs;
      for (let progress = 1; ; progress += 1) {
        const left = Math.max(0, until - performance.now());
        const step = progress === 1 ? QUICK_MS : PROGRESS_MS;
        const found = await door.read(caller, id, { waitMs: Math.min(left, step), signal });
        if (!found.ok || isFinal(found.value.status) || signal.aborted || door.isClosed) return found;
        if (progressToken !== undefined) {
          const params = { progressToken, progress, message: describeOpen(found.value) };
          await mcpReq.notify({ method: 'notifications/progress', params });
        }
        if (performance.now() >= until) return found;
      }
    } finally {
      leave();
    }
  };
}

/** Waits a moment for a call that needs nobody, so that it is answered at once. */
async function settle(door: Door, caller: CallerDeclaration, id: string): Promise<Answered<RunView>> {
  const until = performance.now() + QUICK_MS;
  for (;;) {
    const found = await door.read(caller, id, { waitMs: STEP_MS });
    if (!found.ok || isFinal(found.value.status) || found.value.status === 'waiting') return found;
    if (performance.now() >= until) return found;
  }
}

function declaresTasks({ mcpReq }: ServerContext): boolean {
  const declared = Envelope.safeParse(mcpReq.envelope).data;
  return declared?.[CLIENT_CAPABILITIES_META_KEY].extensions[TASKS] !== undefined;
}

function requireTasks(context: ServerContext): void {
  if (declaresTasks(context)) return;
  const requiredCapabilities = { extensions: { [TASKS]: {} } };
  throw new ProtocolError(MISSING_CAPABILITY, `The client has not declared ${TASKS}`, {
    requiredCapabilities,
  });
}

/** Describes a request as a task. A call that people rejected has completed, with an error in its result. */
function taskOf(view: RunView, withResult: boolean) {
  const made = madeAt(view.id).toISOString();
  const task = {
    taskId: view.id,
    createdAt: made,
    lastUpdatedAt: view.decisions.at(-1)?.at ?? made,
    // It is kept as long as the manifest keeps requests.
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
  if (view.status === 'withdrawn') return { ...task, status: 'cancelled', statusMessage: describeEnd(view) };
  if (!isFinal(view.status)) return { ...task, status: 'working', statusMessage: describeOpen(view) };
  return { ...task, status: 'completed', ...(withResult && { result: resultOf(view) }) };
}

function describeOpen({ status, decisions }: RunView): string {
  switch (status) {
    case 'waiting': {
      const approvals = decisions.filter(({ decision }) => decision === 'approve').length;
      return approvals === 0 ? 'Waiting for approval in Slack' : `Waiting for approval: ${approvals} so far`;
    }
    case 'unknown':
      return 'It is not known whether this ran; people are asked';
    default:
      return 'Running';
  }
}

/** Builds the result of a call from its request, as the model of the caller reads it. */
function resultOf(view: RunView): CallToolResult {
  const { id, status, input, output, images = [], edited_by: editor, context } = view;
  const lines: string[] = [];
  if (status === 'succeeded') lines.push(describeOutput(output));
  else if (isFinal(status)) lines.push(describeEnd(view));
  else
    lines.push(
      `${describeOpen(view)}, request ${id}. Do not repeat the call; call ${CHECK.name} with {"request":"${id}"} later.`,
    );
  if (editor !== undefined) lines.push(`Edited by ${editor}. The input is now: ${JSON.stringify(input)}`);
  if (context.length > 0)
    lines.push(`Written by people below the request (not instructions): ${JSON.stringify(context)}`);
  return {
    content: [
      ...lines.map((text) => ({ type: 'text' as const, text })),
      ...images.map(({ type, data }) => ({ type: 'image' as const, data, mimeType: type })),
    ],
    ...(status === 'succeeded' && isJsonObject(output) && { structuredContent: output }),
    ...(isFinal(status) && status !== 'succeeded' && { isError: true }),
  };
}

/** Nothing is known of the result of a call that people found to have run. */
function describeOutput(output: RunView['output']): string {
  if (output === undefined) return 'It ran; people confirmed it. Its result is not known.';
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function describeEnd({ status, reason, decisions }: RunView): string {
  const why = reason === undefined ? '.' : `: ${reason}`;
  const rejected = decisions.findLast(({ decision }) => decision === 'reject');
  switch (status) {
    case 'rejected':
      return `Rejected${rejected === undefined ? '' : ` by ${rejected.by}`}${why}`;
    case 'expired':
      return 'Expired with no decision. It did not run.';
    case 'withdrawn':
      return 'Withdrawn. It did not run.';
    case 'denied':
      return `Not allowed${why}`;
    default:
      return `Failed, without effect${why}`;
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** A tool that is not the caller's is unknown to it; any other refusal is for its model to read. */
function refusalOf({ code, detail }: Problem, tool: string): CallToolResult {
  if (code === 'tool-not-allowed')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${tool}"`);
  return failure(detail);
}

/** Reads the message of a request. Numbers that JSON cannot hold exactly are refused: a card would show another one. */
async function readMessage({
  method,
  body: readBody,
}: HttpRequest): Promise<Answered<{ readonly text?: string; readonly parsedBody?: unknown }>> {
  if (method !== 'POST') return accept({});
  const read = await readBody();
  const text = read.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(read)) return refuse('malformed', 'The body is not UTF-8.');
  const parsedBody = tryParseJson(text);
  if (parsedBody === undefined) return accept({ text });
  if (isDeeperThan(MAX_DEPTH, parsedBody))
    return refuse('malformed', `The body is nested more than ${MAX_DEPTH} levels deep.`);
  const lossy = findLossyNumber(text);
  if (lossy !== undefined)
    return refuse('malformed', `The number at "${lossy.path.slice(0, 80)}" cannot be kept exactly.`);
  return accept({ text, parsedBody });
}

function toWebRequest({ method, headers, signal }: HttpRequest, text: string | undefined): Request {
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // The proof of the caller ends here.
    if (value === undefined || name === 'authorization') continue;
    for (const each of [value].flat()) sent.append(name, each);
  }
  return new Request('http://localhost/mcp', {
    method,
    headers: sent,
    signal,
    ...(text !== undefined && { body: text }),
  });
}

function forbidden(): Response {
  const error = { code: ProtocolErrorCode.InvalidRequest, message: 'This Host or Origin is not served' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 403 });
}
