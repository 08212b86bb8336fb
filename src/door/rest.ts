import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { findLossyNumber, isDeeperThan, tryParseJson } from '../agent/json.ts';
import type { CallerDeclaration } from '../tools/callers.ts';
import { Report } from '../tools/toolbox/caller-action.ts';
import { AskRequest } from './ask-view.ts';
import { type Door, RunRequest } from './door.ts';
import type { Identities, Proven } from './identity.ts';
import { IDEMPOTENCY_KEY, LONGEST_WAIT_S, openApi } from './openapi.ts';
import { type Answered, accept, describeProblem, type Problem, refuse } from './problems.ts';
import { isFinal, type RunView } from './run-view.ts';

/** A request under `/v1`. */
export interface DoorRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  /** Reads the body; `too-long` beyond 1 MB. */
  readonly body: () => Promise<Buffer | 'too-long'>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** The answer to a request under `/v1`. */
export interface DoorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface RestContext {
  readonly door: Door;
  readonly identities: Identities;
  readonly logger: Logger;
  /** Counts an answer, by caller and status. */
  readonly count: (caller: string, status: number) => void;
}

/** A request of a proven caller. */
interface Call {
  readonly door: Door;
  readonly caller: CallerDeclaration;
  readonly request: DoorRequest;
  /** The parts of the path. */
  readonly id: string;
  readonly body: unknown;
  readonly key: string | undefined;
  /** Recognizes the person for whom the caller asks, by a token of theirs. */
  readonly person: (token: string | undefined) => Promise<Answered<string | undefined>>;
  /** Waits as long as the request asks for; 0 if too many wait. */
  readonly wait: <Value>(work: (waitMs: number) => Promise<Value>) => Promise<Value>;
}

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: RegExp;
  readonly answer: (call: Call) => Promise<Answered<DoorAnswer>>;
}

/** Beyond these a request is answered at once. The server has room for a thousand connections, and Slack needs some. */
const MOST_WAITING = 400;
const MAX_DEPTH = 100;
const RUN = /^\/v1\/runs\/([^/]+)$/;
const ASK = /^\/v1\/asks\/([^/]+)$/;

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/v1\/tools$/,
    answer: async ({ door, caller }) => accept(json(200, { tools: door.tools(caller) })),
  },
  {
    method: 'POST',
    path: /^\/v1\/runs$/,
    async answer({ door, caller, body, key, person: prove }) {
      const parsed = parseAs(RunRequest, body);
      if (!parsed.ok) return parsed;
      const person = await prove(parsed.value.on_behalf_of);
      if (!person.ok) return person;
      const submitted = await door.submitRun(caller, parsed.value, { key, person: person.value });
      return submitted.ok ? accept(runAnswer(submitted.value.view, submitted.value.isNew)) : submitted;
    },
  },
  {
    method: 'GET',
    path: RUN,
    async answer({ door, caller, id, wait, request: { signal } }) {
      return viewAnswer(await wait((waitMs) => door.read(caller, id, { waitMs, signal })));
    },
  },
  {
    method: 'DELETE',
    path: RUN,
    answer: async ({ door, caller, id }) => viewAnswer(await door.withdraw(caller, id)),
  },
  {
    method: 'POST',
    path: /^\/v1\/asks$/,
    async answer({ door, caller, body, key, person: prove }) {
      const parsed = parseAs(AskRequest, body);
      if (!parsed.ok) return parsed;
      const person = await prove(parsed.value.on_behalf_of);
      if (!person.ok) return person;
      const submitted = await door.submitAsk(caller, parsed.value, { key, person: person.value });
      if (!submitted.ok) return submitted;
      const { view, isNew } = submitted.value;
      return accept(json(202, view, isNew ? { location: `/v1/asks/${view.id}` } : {}));
    },
  },
  {
    method: 'GET',
    path: ASK,
    async answer({ door, caller, id, wait, request: { signal } }) {
      return viewAnswer(await wait((waitMs) => door.readAsk(caller, id, { waitMs, signal })));
    },
  },
  {
    method: 'DELETE',
    path: ASK,
    answer: async ({ door, caller, id }) => viewAnswer(await door.withdraw(caller, id)),
  },
  {
    method: 'POST',
    path: /^\/v1\/asks\/([^/]+)\/start$/,
    answer: async ({ door, caller, id }) => viewAnswer(await door.start(caller, id)),
  },
  {
    method: 'POST',
    path: /^\/v1\/asks\/([^/]+)\/report$/,
    async answer({ door, caller, id, body }) {
      const parsed = parseAs(Report, body);
      return parsed.ok ? viewAnswer(await door.report(caller, id, parsed.value)) : parsed;
    },
  },
];

function runAnswer(view: RunView, isNew: boolean): DoorAnswer {
  const location = { location: `/v1/runs/${view.id}` };
  return json(isFinal(view.status) ? 200 : 202, view, isNew ? location : {});
}

function viewAnswer(found: Answered<object>): Answered<DoorAnswer> {
  return found.ok ? accept(json(200, found.value)) : found;
}

/** Answers the requests under `/v1`: recognizes the caller, finds the route, and turns what the door says into HTTP. */
export function createRest(context: RestContext): (request: DoorRequest) => Promise<DoorAnswer> {
  const { door, identities, logger, count } = context;
  let waiting = 0;
  const waiter = (request: DoorRequest): Call['wait'] => {
    const asked = Number(request.url.searchParams.get('wait') ?? 0);
    const seconds = Number.isFinite(asked) ? Math.min(Math.max(asked, 0), LONGEST_WAIT_S) : 0;
    return async (work) => {
      if (seconds === 0 || waiting >= MOST_WAITING) return work(0);
      waiting += 1;
      try {
        return await work(seconds * 1_000);
      } finally {
        waiting -= 1;
      }
    };
  };
  const answer = async (
    request: DoorRequest,
  ): Promise<{ readonly given: Answered<DoorAnswer>; readonly caller: string }> => {
    const { method, url } = request;
    const nobody = (given: Answered<DoorAnswer>) => ({ given, caller: '' });
    if (url.pathname === '/v1/openapi.json' && method === 'GET') return nobody(accept(json(200, openApi())));
    const proven = await identities.prove(request.headers.authorization);
    if (!proven.ok) return nobody(proven);
    const { name: caller } = proven.value.caller;
    return { caller, given: await answerCaller(proven.value, request) };
  };
  const answerCaller = async (proven: Proven, request: DoorRequest): Promise<Answered<DoorAnswer>> => {
    const found = findRoute(request);
    if (!found.ok) return found;
    const { route, id } = found.value;
    const read = await readRequest(request, route);
    if (!read.ok) return read;
    const { text, body, key } = read.value;
    const isChange = route.method !== 'GET';
    const change = [route.method, request.url.pathname, key ?? '', text].join('\n');
    const bound = isChange ? await identities.bind(proven, change) : accept(proven.caller);
    if (!bound.ok) return bound;
    const caller = bound.value;
    const person = async (token: string | undefined) =>
      token === undefined ? accept(undefined) : identities.person(caller, token, `${caller.name}\n${change}`);
    return route.answer({ door, caller, request, id, body, key, person, wait: waiter(request) });
  };
  return async (request) => {
    const { given, caller } = await answer(request);
    const answered = given.ok ? given.value : problemAnswer(given.problem);
    count(caller, answered.status);
    logger.info(
      { caller, method: request.method, path: request.url.pathname, status: answered.status },
      'door answered',
    );
    return answered;
  };
}

function findRoute({ method, url }: DoorRequest): Answered<{ readonly route: Route; readonly id: string }> {
  const matching = ROUTES.flatMap((route) => {
    const [path, id = ''] = route.path.exec(url.pathname) ?? [];
    return path === undefined ? [] : [{ route, id }];
  });
  if (matching.length === 0) return refuse('no-such-path', 'See /v1/openapi.json.');
  const found = matching.find(({ route }) => route.method === method);
  if (found !== undefined) return accept(found);
  const allow = matching.map(({ route }) => route.method).join(', ');
  return refuse('wrong-method', `Use ${allow}.`, { allow });
}

/** Reads the body and the key of a request that changes something. */
async function readRequest(
  { headers, body: readBody }: DoorRequest,
  { method }: Route,
): Promise<Answered<{ readonly text: string; readonly body: unknown; readonly key: string | undefined }>> {
  const key = headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)))
    return refuse('malformed', 'An Idempotency-Key has 1 to 255 visible ASCII characters.');
  if (method !== 'POST') return accept({ text: '', body: undefined, key });
  const read = await readBody();
  if (read === 'too-long') return refuse('too-long', 'Send at most 1 MB.');
  if (read.length === 0) return accept({ text: '', body: undefined, key });
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
    return refuse('wrong-type', 'Send content-type: application/json.');
  const text = textOf(read);
  const body = text === undefined ? undefined : tryParseJson(text);
  if (text === undefined || body === undefined) return refuse('malformed', 'The body is not JSON in UTF-8.');
  if (isDeeperThan(MAX_DEPTH, body))
    return refuse('malformed', `The body is nested more than ${MAX_DEPTH} levels deep.`);
  const lossy = findLossyNumber(text);
  if (lossy !== undefined)
    return refuse(
      'malformed',
      `The number at "${lossy.path.slice(0, 80)}" cannot be kept exactly; send it as a string.`,
    );
  return accept({ text, body, key });
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseAs<Schema extends z.ZodType>(schema: Schema, body: unknown): Answered<z.output<Schema>> {
  const { success, data, error } = schema.safeParse(body);
  if (success) return accept(data);
  const [issue] = error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'The body' : `"${issue.path.join('.')}"`;
  return refuse('unfit', `${where}: ${issue?.message ?? 'does not fit'}`);
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): DoorAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: `${JSON.stringify(body)}\n`,
  };
}

/** Builds the answer of a problem. */
export function problemAnswer(problem: Problem): DoorAnswer {
  const { status, body } = describeProblem(problem);
  const { retryAfterS, allow } = problem;
  return json(status, body, {
    'content-type': 'application/problem+json',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfterS !== undefined && { 'retry-after': String(retryAfterS) }),
    ...(allow !== undefined && { allow }),
    ...(status === 413 && { connection: 'close' }),
  });
}
