import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import type { Media } from '../messages.ts';
import type { HistoryItem, ModelConfig, ModelReply, ModelRequest } from '../model.ts';

/** A request as an adapter sends it. */
export interface AdapterRequest
  extends Pick<ModelRequest, 'system' | 'history' | 'tools' | 'toolChoice' | 'outputSchema'> {
  readonly model: string;
  readonly config: ModelConfig;
  /** Returns the data that this provider gave with an answer; `undefined` if another one did. */
  readonly dataOf: (item: Extract<HistoryItem, { role: 'model' }>) => JsonObject | undefined;
}

/** Completes a schema: OpenAI refuses one without properties, which MCP servers send for tools that take nothing. */
export function parametersOf(inputSchema: JsonObject): { [key: string]: unknown } {
  return { properties: {}, ...inputSchema };
}

/** Tells a PDF from an image. */
export function isDocument({ url, contentType = '' }: Media): boolean {
  return /^application\/pdf\b/i.test(contentType) || /^data:application\/pdf\b/i.test(url);
}

/** Replaces what OpenAI does not allow in a name: it refuses the whole request for one such character of a made-up name. */
export function acceptableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}

export function resultText(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

/** Names the output schema. The provider enforces it only in the form of strict mode: closed objects with no optional property. */
export function strictOutput(schema: JsonObject): {
  name: string;
  schema: { [key: string]: unknown };
  strict: boolean;
} {
  const strict = isStrict(schema);
  return { name: 'output', schema: { ...(strict ? closeObjects(schema) : schema) }, strict };
}

function isStrict(schema: JsonValue): boolean {
  if (isList(schema)) return schema.every(isStrict);
  if (!isJsonObject(schema)) return true;
  const { type, properties, required = [], additionalProperties = false } = schema;
  if (type === 'object') {
    if (additionalProperties !== false || !isJsonObject(properties) || !isList(required)) return false;
    if (!Object.keys(properties).every((key) => required.includes(key))) return false;
  }
  return Object.values(schema).every(isStrict);
}

function closeObjects<Value extends JsonValue>(schema: Value): Value;
function closeObjects(schema: JsonValue): JsonValue {
  if (isList(schema)) return schema.map((entry) => closeObjects(entry));
  if (!isJsonObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, entry]) => [key, closeObjects(entry)] as const);
  return { ...Object.fromEntries(entries), ...(schema.type === 'object' && { additionalProperties: false }) };
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Some servers leave a count out; a message without it could not be read back. */
export const Count = z.number().int().nonnegative().catch(0);
export const OptionalCount = z.number().int().nonnegative().optional().catch(undefined);

/** An answer as an adapter reads it; the data for the provider has no origin yet. */
export type AdapterReply = Omit<ModelReply, 'provider' | 'model'> & {
  readonly data?: JsonObject | undefined;
};

/** Assembles one answer from the chunks or events of its stream. */
export abstract class Answer {
  #text = '';
  #failure: unknown;

  /** Yields the text of an answer as it arrives. A failure ends it early: `failure` keeps the reason and `reply` what arrived. */
  async *read(chunks: AsyncIterable<unknown>): AsyncGenerator<string, void> {
    try {
      for await (const chunk of chunks) {
        const text = this.add(chunk);
        this.#text += text;
        if (text !== '') yield text;
      }
    } catch (error) {
      this.#failure = error;
    }
  }

  /** The error that ended the stream, if one did. */
  get failure(): unknown {
    return this.#failure;
  }

  get text(): string {
    return this.#text;
  }

  /** Adds one chunk and returns the text in it. */
  protected abstract add(chunk: unknown): string;

  abstract get isEmpty(): boolean;

  /** Returns the answer as far as it arrived; `broken` overrides how it ended. */
  abstract reply(broken?: 'cut' | 'aborted'): AdapterReply;
}
