import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { HistoryError } from './errors.ts';
import { copyJson, deepFreeze, type JsonObject, type JsonValue, toJson } from './json.ts';
import { Json, JsonRecord } from './json-schema.ts';

/**
 * The version that every new message carries; a change of shape takes the next number and a reader for this one. Version 2 added
 * optional fields only (`provider`, `system`, media, more of `usage`), so the schema below reads version 1 as well.
 */
export const MESSAGE_VERSION = 2;

const Version = z.literal([1, MESSAGE_VERSION]);

/** The way a run of the loop ended. `model-error` comes with an `error`; whatever ran before it is in the messages. */
export const FinishReason = z.enum([
  'stop',
  'interrupted',
  'length',
  'max-steps',
  'content-filter',
  'refusal',
  'cut-stream',
  'empty-choice',
  'invalid-output',
  'aborted',
  'model-error',
]);
export type FinishReason = z.infer<typeof FinishReason>;

/** One call as the model made it; `ref` is the model's own id for the call and unique in its history. */
export interface ToolRequest<Name extends string = string, Input = unknown> {
  readonly name: Name;
  readonly ref: string;
  readonly input: Input;
}
const ToolRequest = z.strictObject({ name: z.string(), ref: z.string().min(1), input: Json });

export const Usage = z.strictObject({
  inputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  totalTokens: z.number().int().nonnegative(),
  /** The part of `inputTokens` that the provider had cached. */
  cachedTokens: z.number().int().nonnegative().optional(),
  /** The part of `outputTokens` that the model spent on reasoning. */
  reasoningTokens: z.number().int().nonnegative().optional(),
});
export type Usage = Readonly<z.infer<typeof Usage>>;

/** An image, as a `data:` URL or an address that the provider can reach. */
export const Media = z.strictObject({ url: z.string().min(1), contentType: z.string().optional() });
export type Media = Readonly<z.infer<typeof Media>>;

/**
 * Data that a provider wants back with the answer it came with: encrypted reasoning, signatures, item ids. It is opaque: nobody shows,
 * logs or counts it, and it is sent only to the `origin` that it came from.
 */
export const ProviderData = z.strictObject({ origin: z.string().min(1), data: JsonRecord });
export type ProviderData = Readonly<z.infer<typeof ProviderData>>;

const TextPart = z.strictObject({ text: z.string() });
const MediaPart = z.strictObject({ media: Media });
const CallPart = z.strictObject({ toolRequest: ToolRequest, idempotencyKey: z.string().min(1) });
/** A call in a model's message; every attempt of the call uses the same key. */
export type CallPart = Readonly<z.infer<typeof CallPart>>;

/** The way a call ended; `closed` means without a run and without an output (expired, withdrawn). */
export const ResponseStatus = z.enum(['ok', 'error', 'denied', 'closed']);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

const ResponsePart = z.strictObject({
  toolResponse: z.strictObject({
    name: z.string(),
    ref: z.string().min(1),
    output: Json,
    content: z.array(MediaPart).min(1).optional(),
  }),
  status: ResponseStatus,
  /** The input that ran, if a restart replaced the model's. */
  input: Json.optional(),
  metadata: JsonRecord.optional(),
});
/** The only result of one call. */
export type ResponsePart = Readonly<z.infer<typeof ResponsePart>>;

/** The progress of one `generate` inside a tool when the tool paused; it is kept so that nothing in it runs again. */
export interface NestedRun {
  readonly finishReason: FinishReason;
  readonly messages: readonly Message[];
}
const NestedRun: z.ZodType<NestedRun> = z.strictObject({
  finishReason: FinishReason,
  get messages() {
    return z.array(Message);
  },
});

/** A call that waits for a reply; each pause has a new `id`, so that no reply fits two pauses. */
export interface Interrupt<Name extends string = string, Input = unknown> {
  readonly id: string;
  readonly toolRequest: ToolRequest<Name, Input>;
  readonly metadata?: JsonObject | undefined;
  readonly nested?: readonly NestedRun[] | undefined;
  /** The metadata of the restart during which a `generate` inside the tool paused; the next run gets it again. */
  readonly resumed?: JsonObject | undefined;
}
export const Interrupt: z.ZodType<Interrupt<string, JsonValue>> = z.strictObject({
  id: z.string().min(1),
  toolRequest: ToolRequest,
  metadata: JsonRecord.optional(),
  nested: z.array(NestedRun).optional(),
  resumed: JsonRecord.optional(),
});

const UserMessage = z.strictObject({
  v: Version,
  role: z.literal('user'),
  content: z.array(z.union([TextPart, MediaPart])).min(1),
  metadata: JsonRecord.optional(),
  /** The system text that `generate` was given with this prompt; it holds until another one is given. */
  system: z.string().optional(),
});
export type UserMessage = Readonly<z.infer<typeof UserMessage>>;

const ModelMessage = z.strictObject({
  v: Version,
  role: z.literal('model'),
  content: z.array(z.union([TextPart, CallPart])).min(1),
  usage: Usage.optional(),
  provider: ProviderData.optional(),
});
export type ModelMessage = Readonly<z.infer<typeof ModelMessage>>;

const ToolMessage = z.strictObject({
  v: Version,
  role: z.literal('tool'),
  content: z.array(z.union([ResponsePart, z.strictObject({ interrupt: Interrupt })])),
});
/** The results of calls, and the interrupts that wait. A later tool message settles what an earlier one left waiting. */
export type ToolMessage = Readonly<z.infer<typeof ToolMessage>>;
export type ToolPart = ToolMessage['content'][number];

export type Message = UserMessage | ModelMessage | ToolMessage;
export const Message: z.ZodType<Message> = z.discriminatedUnion('role', [
  UserMessage,
  ModelMessage,
  ToolMessage,
]);

/** The lists of messages that this process has checked; they are frozen, so a second check cannot find anything. */
const sealed = new WeakSet<object>();

/** Freezes a well-formed message with everything in it: a message is written once and never changes. */
export function sealMessage<Sealed extends Message>(message: Sealed): Sealed {
  return deepFreeze(message);
}

/** Freezes a list of sealed messages. */
export function sealMessages(messages: Message[]): readonly Message[] {
  sealed.add(messages);
  return Object.freeze(messages);
}

/** Checks a value and returns it as a sealed message that shares nothing with the value; `index` is for the error. */
export function parseMessage(value: unknown, index = 0): Message {
  let copy: JsonValue;
  try {
    copy = toJson(value);
  } catch (cause) {
    throw new HistoryError('malformed-message', 'not plain JSON', index, undefined, { cause });
  }
  return checkMessage(copy, index);
}

/** Checks values and returns them as a sealed list of messages. */
export function parseMessages(values: readonly unknown[]): readonly Message[] {
  return isSealed(values) ? values : sealMessages(values.map(parseMessage));
}

/** Reads the messages of a thread from their JSON texts. */
export function readMessages(texts: readonly string[]): readonly Message[] {
  return sealMessages(
    texts.map((text, index) => {
      const value: JsonValue = JSON.parse(text);
      return isMessage(value) ? sealMessage(value) : checkMessage(value, index);
    }),
  );
}

let compiledCheck: ValidateFunction<Message> | undefined;

/** Checks a message by the same schema, compiled so that it copies nothing: a log can have thousands of messages. */
function isMessage(value: unknown): value is Message {
  compiledCheck ??= new Ajv2020({ strict: false }).compile<Message>(
    z.toJSONSchema(Message, { unrepresentable: 'any' }),
  );
  return compiledCheck(value);
}

/** Reads one result or interrupt from its JSON. */
export function readToolPart(value: JsonValue): ToolPart {
  const [part] = ToolMessage.parse({ v: MESSAGE_VERSION, role: 'tool', content: [value] }).content;
  if (part === undefined) throw new TypeError('A result is missing');
  return deepFreeze(part);
}

/** Builds the message of a person. */
export function userMessage(
  text: string,
  metadata?: JsonObject,
  { media = [], system }: { readonly media?: readonly Media[]; readonly system?: string | undefined } = {},
): UserMessage {
  if (!areSmall(media)) throw new RangeError(`The images have more than ${MAX_MEDIA_BYTES} bytes as URLs`);
  return sealMessage({
    v: MESSAGE_VERSION,
    role: 'user',
    content: [{ text }, ...media.map((image) => ({ media: { ...image } }))],
    ...(metadata !== undefined && { metadata: copyJson(metadata) }),
    ...(system !== undefined && { system }),
  });
}

/** The most images of a message or a result, as URLs: a message is kept, and sent again with every request. */
export const MAX_MEDIA_BYTES = 512 * 1024;

export function areSmall(media: readonly Media[]): boolean {
  return media.reduce((sum, { url }) => sum + url.length, 0) <= MAX_MEDIA_BYTES;
}

function isSealed(values: readonly unknown[]): values is readonly Message[] {
  return sealed.has(values);
}

function checkMessage(value: JsonValue, index: number): Message {
  const result = Message.safeParse(value);
  if (result.success) return sealMessage(result.data);
  const issue = result.error.issues[0];
  const where = issue === undefined ? '' : ` (${issue.path.join('.') || 'the message'}: ${issue.message})`;
  throw new HistoryError(
    'malformed-message',
    `not a message of version 1 to ${MESSAGE_VERSION}${where}`,
    index,
  );
}
