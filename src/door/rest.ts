import type { Logger } from 'pino';
import type { z } from 'zod';
import { findLossyNumber, isDeeperThan, tryParseJson } from '../agent/json.ts';
import type { HttpAnswer } from '../http/http-answer.ts';
import type { HttpMethod, HttpRequest, HttpRoutes, Unrouted } from '../http/http-part.ts';
import type { CallerDeclaration } from '../tools/callers.ts';
import { Report } from '../tools/toolbox/caller-action.ts';
import { AskRequest } from './ask-view.ts';
import { type Door, RunRequest } from './door.ts';
import type { Identities, Proven } from './identity.ts';
import { IDEMPOTENCY_KEY, LONGEST_WAIT_S, openApi } from './openapi.ts';
import { type Answered, accept, describeProblem, type Problem, refuse } from './problems.ts';
import { isFinal, type RunView } from './run-view.ts';
import type { WaitingPlaces } from './waiting-places.ts';

interface RestContext {
  readonly door: Door;
  readonly identities: Identities;
  readonly places: WaitingPlaces;
  readonly logger: Logger;
  /** Counts an answer, by caller and status. */
  readonly count: (caller: string, status: number) => void;
}

/** A request of a proven caller. */
interface Call {
  readonly door: Door;
  readonly caller: CallerDeclaration;
  readonly request: HttpRequest;
  /** The id in the path. */
  readonly id: string;
  readonly body: unknown;
  readonly key: string | undefined;
  /** Recognizes the person for whom the caller asks, by a token of theirs. */
  readonly person: (token: string | undefined) => Promise<Answered<string | undefined>>;
  /** Reads a request after waiting as long as the caller asks for, if there is a place to wait. */
  readonly wait: (read: (waitMs: number) => Promise<Answered<object>>) => Promise<Answered<HttpAnswer>>;
}

interface Route {
  readonly method: HttpMethod;
  readonly path: string;
  readonly answer: (call: Call) => Promise<Answered<HttpAnswer>>;
}

/** A request that found no place to wait is sent again after this time. */
const RETRY_S = 5;
const MAX_DEPTH = 100;
const RUN = '/v1/runs/:id';
const ASK = '/v1/asks/:id';

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/tools',
    answer: async ({ door, caller }) => accept(json(200, { tools: door.tools(caller) })),
  },
  {
    method: 'POST',
    path: '/v1/runs',
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
      return wait((waitMs) => door.read(caller, id, { waitMs, signal }));
    },
  },
  {
    method: 'DELETE',
    path: RUN,
    answer: async ({ door, caller, id }) => viewAnswer(await door.withdraw(caller, id)),
  },
  {
    method: 'POST',
    path: '/v1/asks',
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
      return wait((waitMs) => door.readAsk(caller, id, { waitMs, signal }));
    },
  },
  {
    method: 'DELETE',
    path: ASK,
    answer: async ({ door, caller, id }) => viewAnswer(await door.withdraw(caller, id)),
  },
  {
    method: 'POST',
    path: `${ASK}/start`,
    answer: async ({ door, caller, id }) => viewAnswer(await door.start(caller, id)),
  },
  {
    method: 'POST',
    path: `${ASK}/report`,
    async answer({ door, caller, id, body }) {
      const parsed = parseAs(Report, body);
      return parsed.ok ? viewAnswer(await door.report(caller, id, parsed.value)) : parsed;
    },
  },
];

function runAnswer(view: RunView, isNew: boolean): HttpAnswer {
  const location = { location: `/v1/runs/${view.id}` };
  return json(isFinal(view.status) ? 200 : 202, view, isNew ? location : {});
}

function viewAnswer(
  found: Answered<object>,
  headers?: Readonly<Record<string, string>>,
): Answered<HttpAnswer> {
  return found.ok ? accept(json(200, found.value, headers)) : found;
}

/** Waits as long as a request asks for. Without a place it is answered at once, with the time after which to ask again. */
function waiterFor({ url }: HttpRequest, { name }: CallerDeclaration, places: WaitingPlaces): Call['wait'] {
  const asked = Number(url.searchParams.get('wait') ?? 0);
  const seconds = Number.isFinite(asked) ? Math.min(Math.max(asked, 0), LONGEST_WAIT_S) : 0;
  return async (read) => {
    if (seconds === 0) return viewAnswer(await read(0));
    const leave = places.take(name);
    if (leave === undefined) return viewAnswer(await read(0), { 'retry-after': String(RETRY_S) });
    try {
      return viewAnswer(await read(seconds * 1_000));
    } finally {
      leave();
    }
  };
}

/** Opens the addresses under `/v1`: each recognizes the caller, and turns what the door says into HTTP. */
export function openRest(context: RestContext): HttpRoutes {
  const { door, identities, places, logger, count } = context;
  const answerCaller = async (
    proven: Proven,
    request: HttpRequest,
    route: Route,
  ): Promise<Answered<HttpAnswer>> => {
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
    const wait = waiterFor(request, caller, places);
    const { id = '' } = request.params;
    return route.answer({ door, caller, request, id, body, key, person, wait });
  };
  const answer = async (request: HttpRequest, route: Route): Promise<HttpAnswer> => {
    const proven = await identities.prove(request.headers.authorization);
    const given = proven.ok ? await answerCaller(proven.value, request, route) : proven;
    const answered = given.ok ? given.value : problemAnswer(given.problem);
    const caller = proven.ok ? proven.value.caller.name : '';
    count(caller, answered.status);
    logger.info(
      { caller, method: request.method, path: request.url.pathname, status: answered.status },
      'door answered',
    );
    return answered;
  };
  return {
    routes: [
      { method: 'GET', path: '/v1/openapi.json', answer: () => json(200, openApi()) },
      ...ROUTES.map((route) => ({
        method: route.method,
        path: route.path,
        answer: (request: HttpRequest) => answer(request, route),
      })),
    ],
    refuse(unrouted) {
      count('', unrouted.status);
      return problemAnswer(problemOf(unrouted));
    },
  };
}

/** Describes a refusal of the router as a problem. */
export function problemOf({ status, error, headers: { allow } }: Unrouted): Problem {
  switch (status) {
    case 404:
      return { code: 'no-such-path', detail: 'See /v1/openapi.json.' };
    case 405:
      return allow === undefined
        ? { code: 'wrong-method', detail: error }
        : { code: 'wrong-method', detail: error, allow };
    case 413:
      return { code: 'too-long', detail: 'Send at most 1 MB.' };
    case 503:
      return { code: 'unavailable', detail: error, retryAfterS: RETRY_S };
  }
}

/** Reads the body and the key of a request that changes something. */
async function readRequest(
  { headers, body: readBody }: HttpRequest,
  { method }: Route,
): Promise<Answered<{ readonly text: string; readonly body: unknown; readonly key: string | undefined }>> {
  const key = headers['idempotency-key'];
  if (key !== undefined && (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)))
    return refuse('malformed', 'An Idempotency-Key has 1 to 255 visible ASCII characters.');
  if (method !== 'POST') return accept({ text: '', body: undefined, key });
  const read = await readBody();
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

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(body)}\n`,
  };
}

/** Builds the answer of a problem. */
export function problemAnswer(problem: Problem): HttpAnswer {
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
