import type { JsonSchema } from '../../agent/compile-schema.ts';
import { defineTool } from '../../agent/define-tool.ts';
import { DefinitionError } from '../../agent/errors/definition-error.ts';
import type { JsonObject } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import { HttpError } from '../errors.ts';
import type { Lookup } from './guard/guarded-connector.ts';
import { guardedFetch } from './guard/guarded-fetch.ts';
import { contentTypeOf, type HttpTemplate, httpProblems } from './http-definition.ts';
import { readAnswer } from './read-answer.ts';
import { bodyFormat, fillBody } from './template/fill-body.ts';
import { fillHeaders } from './template/fill-headers.ts';
import { fillUrl, parseUrlTemplate, type UrlTemplate } from './template/fill-url.ts';

export interface HttpToolDefinition extends HttpTemplate {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Sends the call's idempotency key with every try, as the header Idempotency-Key. */
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly allowPrivate?: readonly string[];
  readonly lookup?: Lookup;
  /** Takes secrets out of a text that people or the model will see. */
  readonly redact?: (text: string) => string;
}

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

/** Makes a tool of one HTTP call. What the input holds can fill the places it is named in and never change the rest. */
export function httpTool(definition: HttpToolDefinition): Tool {
  const { name, description, inputSchema, idempotent = false, select } = definition;
  const { allowPrivate = [], lookup, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = definition;
  const { redact = (text) => text } = definition;
  const urlTemplate = checkedUrlTemplate(definition);
  const fetch = guardedFetch({ allowPrivate, timeoutMs, maxBytes, ...(lookup && { lookup }) });

  return defineTool({ name, description, inputSchema, idempotent }, async (input, helpers) => {
    const { url, init } = buildRequest(definition, urlTemplate, input);
    if (idempotent) init.headers.set('idempotency-key', helpers.idempotencyKey);
    const call = `${definition.method} ${shownUrl(url, redact)}`;
    let answer: Response | undefined;
    try {
      answer = await fetch(url, { ...init, signal: helpers.signal });
      return await readAnswer(answer, { call, select, redact });
    } catch (error) {
      throw withEffect(error, call, answer?.status);
    }
  });
}

/** Whoever reads that a call failed must know whether it may have happened all the same. */
function withEffect(error: unknown, call: string, status: number | undefined): unknown {
  if (!(error instanceof HttpError) || error.code === 'bad-answer') return error;
  const options = { cause: error, ...(status !== undefined && { status }) };
  if (status !== undefined) {
    return new HttpError(
      error.code,
      `${call} answered ${status}, so it took place, but: ${error.message}`,
      options,
    );
  }
  if (error.code !== 'timed-out' && error.code !== 'broken-off') return error;
  const effect = call.startsWith('GET ') ? '' : ' It may or may not have taken effect.';
  return new HttpError(error.code, `${call}: ${error.message}${effect}`, options);
}

function checkedUrlTemplate(definition: HttpToolDefinition): UrlTemplate {
  const { name, inputSchema, url, query, idempotent = false } = definition;
  const problems = httpProblems(definition, inputSchema, { idempotent });
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
  // A text of a type that we know nothing of has no placeholders and goes out as it was written.
  const body = bodyTemplate === undefined ? undefined : fillBody(bodyTemplate, format ?? 'plain', input);
  if (body === undefined) headers.delete('content-type');
  else if (contentType === undefined) {
    headers.set('content-type', format === 'json' ? 'application/json' : 'text/plain;charset=UTF-8');
  }
  if (!headers.has('user-agent')) headers.set('user-agent', 'countersign');
  return { url: fillUrl(urlTemplate, input), init: { method, headers, ...(body !== undefined && { body }) } };
}

/** Origin and path, without the query, and without a secret in the path however it is encoded. */
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
