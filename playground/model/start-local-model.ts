import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { sendJson } from '../send-json.ts';
import type { ChatRequest } from './chat-request.ts';
import { localModelNames, parseRequest } from './check-request.ts';
import { checkInclude, checkItems, type Reasoned } from './check-responses.ts';
import { type Dialect, readDialect } from './dialects.ts';
import type { ModelReply, ReplyFunction } from './model-reply.ts';
import { badRequest, type RequestProblem } from './request-problem.ts';
import { ResponsesRequest, toChatRequest } from './responses-request.ts';
import { sendReply, sendResponse } from './send-reply.ts';

/** A request that was refused, with the body as it came and the reason given. */
export interface Refusal {
  body: unknown;
  problem: RequestProblem;
}

/** A running local OpenAI server that answers from a script and refuses what OpenAI refuses. */
export interface LocalModel {
  /** The base URL to give to a client, ending in `/v1`. */
  url: string;
  /** Every well-formed request, in the order of arrival, whether or not the script expected it; one of Responses in the form of Chat. */
  requests: readonly ChatRequest[];
  /** The same requests as they came. */
  bodies: readonly SentBody[];
  /** Every body that was refused; a refusal takes no reply from the script. */
  refusals: readonly Refusal[];
  /** The requests whose client went away before the answer was complete. */
  abandoned: readonly ChatRequest[];
  /** Appends to the queue, which is used up before the script's function is asked. */
  enqueue(...replies: ModelReply[]): void;
  /** Throws if a call came that the script did not expect, or if replies are left over. */
  assertDone(): void;
  /** Closes the server with all its connections, then throws as `assertDone` does; a second call does nothing. */
  stop(): Promise<void>;
}

/** The settings of a local model; without a script it starts with an empty queue. */
export interface LocalModelOptions {
  script?: readonly ModelReply[] | ReplyFunction;
  models?: readonly string[];
  port?: number;
  /** The rules of another server than OpenAI's, or of its reasoning models. */
  dialect?: Dialect;
  /** Whether the Responses API gives reasoning items, which must come back; it does unless told otherwise. */
  reasons?: boolean;
  /** Whether there is no Responses API, as at most compatible servers. */
  withoutResponses?: boolean;
  /** The days on which models end, as the list of models tells them. */
  shutdowns?: Readonly<Record<string, string>>;
}

export interface SentBody {
  path: string;
  body: unknown;
}

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';
const MODELS = '/v1/models';

/** Starts a scripted server of Chat Completions and Responses on the loopback interface. */
export async function startLocalModel(options: LocalModelOptions = {}): Promise<LocalModel> {
  const { script = [], models = localModelNames, port = 0, dialect, reasons = true } = options;
  const queue: ModelReply[] = typeof script === 'function' ? [] : [...script];
  const requests: ChatRequest[] = [];
  const bodies: SentBody[] = [];
  const reasoned = new Map<string, Reasoned>();
  const refusals: Refusal[] = [];
  const abandoned: ChatRequest[] = [];
  const unexpected: string[] = [];
  let lastCall = 0;
  let stopped = false;

  function refuse(response: ServerResponse, body: unknown, problem: RequestProblem, isList = false): void {
    refusals.push({ body, problem });
    const { status, ...error } = problem;
    // Gemini sends its refusals in a list.
    sendJson(response, status, isList ? [{ error }] : { error });
  }

  /** Reads a request of either API; what a script answers is in the form of Chat Completions. */
  function read(path: string, body: unknown): ReadRequest {
    if (path !== RESPONSES) {
      const plain = readDialect(body, dialect);
      if (plain.problem !== undefined)
        return { ok: false, problem: plain.problem, isList: plain.isList ?? false };
      return parseRequest(plain.body, models);
    }
    const { data, error } = ResponsesRequest.safeParse(body);
    if (error !== undefined) {
      const [issue] = error.issues;
      return { ok: false, problem: badRequest(JSON.stringify(issue), issue?.path.join('.') ?? null) };
    }
    const problem = (reasons ? undefined : checkInclude(data)) ?? checkItems(data, reasoned);
    if (problem !== undefined) return { ok: false, problem };
    const parsed = parseRequest(toChatRequest(data), models);
    return parsed.ok ? { ...parsed, responses: data } : parsed;
  }

  function nextCallId(request: ChatRequest): string {
    // A history can be older than this server, so its ids are stepped over.
    const taken = new Set(
      request.messages.flatMap((message) =>
        message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [],
      ),
    );
    do lastCall += 1;
    while (taken.has(`call_${lastCall}`));
    return `call_${lastCall}`;
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url?.split('?')[0] ?? '';
    if (incoming.method === 'GET' && path.startsWith(MODELS)) return sendModels(response, path, options);
    const body = await readBody(incoming);
    const problem = checkEnvelope(incoming, options) ?? body.problem;
    if (problem !== undefined) return refuse(response, body.value, problem);
    const parsed = read(path, body.value);
    if (!parsed.ok) return refuse(response, body.value, parsed.problem, parsed.isList);

    const { request } = parsed;
    const index = requests.push(request) - 1;
    bodies.push({ path, body: body.value });
    response.setHeader('x-request-id', `req_${index + 1}`);
    let cutByScript = false;
    response.once('close', () => {
      if (!response.writableFinished && !cutByScript && !stopped) abandoned.push(request);
    });
    const reply = await chooseReply(request, index);
    if (reply instanceof Error) {
      unexpected.push(`${reply.message} Request ${index}: ${JSON.stringify(request)}`);
      const error = { message: reply.message, type: 'server_error', param: null, code: 'unexpected_call' };
      return sendJson(response, 500, { error }, { 'x-should-retry': 'false' });
    }
    cutByScript = 'cut' in reply && reply.cut !== undefined;
    const identity = {
      id: `chatcmpl-${index + 1}`,
      created: Math.floor(Date.now() / 1000),
      nextCallId: () => nextCallId(request),
    };
    if (parsed.responses === undefined) return sendReply(response, reply, request, identity, dialect);
    await sendResponse(
      response,
      reply,
      parsed.responses,
      { ...identity, id: `resp_${index + 1}` },
      {
        reasons,
        remember: (items) => {
          for (const [key, value] of items) reasoned.set(key, value);
        },
      },
    );
  }

  async function chooseReply(request: ChatRequest, index: number): Promise<ModelReply | Error> {
    try {
      const scripted =
        queue.shift() ?? (typeof script === 'function' ? await script(request, index) : undefined);
      return (
        scripted ?? new Error('The script has no reply for this call; add one, or find out why it was made.')
      );
    } catch (error) {
      return new Error(`The script failed to choose a reply: ${String(error)}.`);
    }
  }

  function assertDone(): void {
    const faults = [...unexpected];
    if (queue.length > 0) {
      faults.push(`The script was not used up; it still has: ${JSON.stringify(queue)}.`);
      faults.push(...refusals.map(({ problem }) => `A request was refused: ${problem.message}`));
    }
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      // A client may go away while it is still sending; that is no fault of the script.
      if (incoming.complete) unexpected.push(`The local model failed: ${String(error)}.`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The local model got no TCP port.');

  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    bodies,
    refusals,
    abandoned,
    enqueue: (...replies) => void queue.push(...replies),
    assertDone,
    async stop() {
      if (stopped) return;
      stopped = true;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      assertDone();
    },
  };
}

type ReadRequest =
  | { ok: true; request: ChatRequest; responses?: ResponsesRequest }
  | { ok: false; problem: RequestProblem; isList?: boolean };

function sendModels(response: ServerResponse, path: string, options: LocalModelOptions): void {
  const { models = localModelNames, shutdowns = {} } = options;
  const data = models.map((id) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'local',
    shutdown_date: shutdowns[id] ?? null,
  }));
  const found = data.find(({ id }) => path === `${MODELS}/${id}`);
  const message = 'The model does not exist';
  const error = { message, type: 'invalid_request_error', param: null, code: 'model_not_found' };
  if (path === MODELS) sendJson(response, 200, { object: 'list', data });
  else if (found === undefined) sendJson(response, 404, { error });
  else sendJson(response, 200, found);
}

function checkEnvelope(
  { method, url, headers }: IncomingMessage,
  { withoutResponses = false }: LocalModelOptions,
): RequestProblem | undefined {
  const path = url?.split('?')[0];
  if (path !== CHAT && (path !== RESPONSES || withoutResponses))
    return { ...badRequest(`Invalid URL (${method} ${path})`), status: 404 };
  if (method !== 'POST') return { ...badRequest(`Not allowed to ${method} on ${path}`), status: 405 };
  if (/^Bearer \S+$/.test(headers.authorization ?? '')) return undefined;
  const message =
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth " +
    '(i.e. Authorization: Bearer YOUR_KEY).';
  return { ...badRequest(message), status: 401 };
}

async function readBody(incoming: IncomingMessage): Promise<{ value: unknown; problem?: RequestProblem }> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  const text = Buffer.concat(parts).toString('utf8');
  try {
    return { value: JSON.parse(text) };
  } catch {
    return {
      value: text,
      problem: badRequest(
        'We could not parse the JSON body of your request. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.',
      ),
    };
  }
}
