import { defineTool } from '../../agent/define-tool.ts';
import { DefinitionError, notDone } from '../../agent/errors.ts';
import type { JsonObject } from '../../agent/json.ts';
import type { JsonSchema } from '../../agent/schema/compile-schema.ts';
import type { Effect, Tool } from '../../agent/tool.ts';
import { HttpError } from '../errors.ts';
import type { Lookup } from './guard/guarded-connector.ts';
import { guardedFetch } from './guard/guarded-fetch.ts';
import { ClientToken, type HttpAuth } from './http-auth.ts';
import { contentTypeOf, type HttpTemplate, httpProblems } from './http-definition.ts';
import { type Answer, isPending, type PollTemplate, pollAnswer } from './poll.ts';
import type { ProxySettings } from './proxy.ts';
import { isFile, readResponse, selectedFrom, sendFile } from './read-response.ts';
import {
  bodyFormat,
  fillBody,
  fillHeaders,
  fillUrl,
  parseUrlTemplate,
  type UrlTemplate,
} from './template.ts';

export interface HttpToolDefinition extends HttpTemplate {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** `none` for GET, else `once`. An `idempotent` tool sends the call's idempotency key as the header Idempotency-Key. */
  readonly effect?: Effect;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly allowPrivate?: readonly string[];
  /** Gets a token for each call, in place of an Authorization header. */
  readonly auth?: HttpAuth;
  /** Waits for the end of a call that its server has accepted only. */
  readonly poll?: PollTemplate;
  readonly lookup?: Lookup;
  /** Removes secrets from a text that people or the model will see. */
  readonly redact?: (text: string) => string;
  readonly proxy?: ProxySettings | undefined;
  /** Called with each new token, which is a secret. */
  readonly onToken?: (token: string) => void;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** The 4xx answers of a gateway that did not wait for the server behind it. */
const GIVEN_UP: ReadonlySet<number> = new Set([408, 499]);

/** Creates a tool from one HTTP call. The input can fill its placeholders and cannot change the rest of the request. */
export function httpTool(definition: HttpToolDefinition): Tool {
  const { name, description, inputSchema, select } = definition;
  const { effect = definition.method === 'GET' ? 'none' : 'once' } = definition;
  const { allowPrivate = [], lookup, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = definition;
  const { redact = (text) => text, proxy, poll } = definition;
  const urlTemplate = checkedUrlTemplate(definition);
  const send = guardedFetch({ allowPrivate, timeoutMs, maxBytes, proxy, ...(lookup && { lookup }) });

  const client = definition.auth && new ClientToken(definition.auth, send, definition.onToken ?? (() => {}));

  /**
   * Sends a request with a token, and once more with a new one after a 401, by which the server says that it did nothing. A server that
   * redirected the call first may have carried it out.
   */
  async function fetch(url: URL, init: RequestInit & { readonly headers: Headers }): Promise<Response> {
    if (client === undefined) return send(url, init);
    const withToken = (token: string) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      return send(url, { ...init, headers });
    };
    const token = await client.token();
    const response = await withToken(token);
    if (response.status !== 401 || response.redirected) return response;
    await response.body?.cancel();
    return withToken(await client.token(token));
  }

  async function answerIn(response: Response, call: string): Promise<Answer> {
    const { status, headers } = response;
    const value = await readResponse(response, { call, select: undefined, redact });
    return { status, value, location: headers.get('location') ?? undefined };
  }

  return defineTool({ name, description, inputSchema, effect }, async (input, helpers) => {
    const { url, init } = unsent(() => buildRequest(definition, urlTemplate, input));
    if (effect === 'idempotent') init.headers.set('idempotency-key', helpers.idempotencyKey);
    const call = `${definition.method} ${shownUrl(url, redact)}`;
    let response: Response | undefined;
    try {
      response = await fetch(url, { ...init, signal: helpers.signal });
      if (response.ok && poll !== undefined) {
        const first = await answerIn(response, call);
        if (isPending(poll, first)) helpers.progress('waiting for it to end');
        const asking = { method: 'GET', headers: pollHeaders(init.headers), signal: helpers.signal };
        const ask = async (address: URL): Promise<Answer | undefined> => {
          // That it cannot be asked about says nothing about a call that was accepted.
          const asked = await fetch(address, asking).catch(() => undefined);
          if (asked === undefined || asked.status === 429 || asked.status >= 500) return undefined;
          return answerIn(asked, `GET ${shownUrl(address, redact)}`);
        };
        const isReading = definition.method === 'GET';
        const last = await pollAnswer(poll, first, { call, url, isReading, signal: helpers.signal, ask });
        return select === undefined ? last : selectedFrom(last, { call, status: 200, select });
      }
      if (response.ok && select === undefined && isFile(response))
        return await sendFile(response, url, helpers);
      return await readResponse(response, { call, select, redact });
    } catch (error) {
      if (error instanceof HttpError && error.code === 'bad-answer' && response !== undefined)
        throw isRefusal(response) ? notDone(error) : error;
      throw explainFailure(error, call, response?.status);
    }
  });
}

/** Returns the headers of a call without those that are about its body and its effect. */
function pollHeaders(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ['content-type', 'idempotency-key']) kept.delete(name);
  return kept;
}

/** Builds a request; what cannot be built is not sent. */
function unsent<Built>(build: () => Built): Built {
  try {
    return build();
  } catch (error) {
    throw error instanceof Error ? notDone(error) : error;
  }
}

/**
 * True for an answer by which a server refuses a call: a 4xx of the address that was called. A 408 and a 499 come from gateways that have
 * given up waiting. A server that redirects may have carried out the call first.
 */
function isRefusal({ status, redirected }: Response): boolean {
  return !redirected && status >= 400 && status < 500 && !GIVEN_UP.has(status);
}

/** Names the call and its answer in the failure of a call whose answer cannot be read, or never came. */
function explainFailure(error: unknown, call: string, status: number | undefined): unknown {
  if (!(error instanceof HttpError)) return error;
  const options = { cause: error, ...(status !== undefined && { status }) };
  if (status !== undefined)
    return new HttpError(
      error.code,
      `${call} answered ${status}, so the call probably went through, but: ${error.message}`,
      options,
    );
  if (error.code !== 'timed-out' && error.code !== 'broken-off') return error;
  const effect = call.startsWith('GET ') ? '' : ' It may or may not have taken effect.';
  return new HttpError(error.code, `${call}: ${error.message}${effect}`, options);
}

function checkedUrlTemplate(definition: HttpToolDefinition): UrlTemplate {
  const { name, inputSchema, url, query, effect } = definition;
  const problems = httpProblems(definition, inputSchema, { idempotent: effect === 'idempotent' });
  const parsed = problems.length === 0 ? parseUrlTemplate(url, query) : undefined;
  if (typeof parsed === 'object') return parsed;
  const sentences = problems.map(({ at, message }) => `${at.join('.')}: ${message}`);
  throw new DefinitionError('invalid-option', `Tool "${name}": ${sentences.join('; ')}`, name);
}

function buildRequest(definition: HttpToolDefinition, urlTemplate: UrlTemplate, input: JsonObject) {
  const { method, headers: headerTemplates = {}, body: bodyTemplate } = definition;
  const headers = fillHeaders(headerTemplates, input);
  const contentType = contentTypeOf(headerTemplates);
  const format = bodyTemplate === undefined ? undefined : bodyFormat(contentType, bodyTemplate);
  // A text of an unknown type has no placeholders and is sent as written.
  const body = bodyTemplate === undefined ? undefined : fillBody(bodyTemplate, format ?? 'plain', input);
  if (body === undefined) headers.delete('content-type');
  else if (contentType === undefined) {
    headers.set('content-type', format === 'json' ? 'application/json' : 'text/plain;charset=UTF-8');
  }
  if (!headers.has('user-agent')) headers.set('user-agent', 'countersign');
  return { url: fillUrl(urlTemplate, input), init: { method, headers, ...(body !== undefined && { body }) } };
}

/** Returns the origin and the path, without the query and without secrets in the path in any encoding. */
function shownUrl({ origin, pathname }: URL, redact: (text: string) => string): string {
  const decoded = decodePath(pathname);
  const hidden = redact(decoded);
  return `${origin}${hidden === decoded ? redact(pathname) : hidden}`;
}

function decodePath(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
