import { z } from 'zod';
import { HistoryError } from './errors.ts';
import { FinishReason } from './finish-reason.ts';
import { isMessage } from './is-message.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { readPlainMessage } from './read-plain-message.ts';

/** The version every message carries; a change of shape takes the next number and a reader for this one. */
export const MESSAGE_VERSION = 1;

const Json: z.ZodType<JsonValue> = z.custom<JsonValue>((value) => value !== undefined);
const JsonRecord = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);
const Version = z.literal(MESSAGE_VERSION);

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
});
export type Usage = Readonly<z.infer<typeof Usage>>;

const TextPart = z.strictObject({ text: z.string() });
const CallPart = z.strictObject({ toolRequest: ToolRequest, idempotencyKey: z.string().min(1) });
/** A call in a model's message; the key stays with the call however often it is tried. */
export type CallPart = Readonly<z.infer<typeof CallPart>>;

/** How a call ended: `closed` when it was ended without a run and without an output (expired, withdrawn). */
export const ResponseStatus = z.enum(['ok', 'error', 'denied', 'closed']);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

const ResponsePart = z.strictObject({
  toolResponse: z.strictObject({ name: z.string(), ref: z.string().min(1), output: Json }),
  status: ResponseStatus,
  /** The input that ran, where a restart replaced the one the model gave. */
  input: Json.optional(),
  metadata: JsonRecord.optional(),
});
/** The one result of one call. */
export type ResponsePart = Readonly<z.infer<typeof ResponsePart>>;

/** What one `generate` inside a tool had done when the tool paused, kept so that it is never done again. */
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

/** A call that waits for a reply; its `id` is new at every pause, so that no reply fits two pauses. */
export interface Interrupt<Name extends string = string, Input = unknown> {
  readonly id: string;
  readonly toolRequest: ToolRequest<Name, Input>;
  readonly metadata?: JsonObject | undefined;
  readonly nested?: readonly NestedRun[] | undefined;
  /** What the tool had been restarted with when a `generate` inside it paused; it is told the same again. */
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
  content: z.array(TextPart).min(1),
  metadata: JsonRecord.optional(),
});
export type UserMessage = Readonly<z.infer<typeof UserMessage>>;

const ModelMessage = z.strictObject({
  v: Version,
  role: z.literal('model'),
  content: z.array(z.union([TextPart, CallPart])).min(1),
  usage: Usage.optional(),
});
export type ModelMessage = Readonly<z.infer<typeof ModelMessage>>;

const ToolMessage = z.strictObject({
  v: Version,
  role: z.literal('tool'),
  content: z.array(z.union([ResponsePart, z.strictObject({ interrupt: Interrupt })])),
});
/** What became of calls: results, and interrupts that wait. Later tool messages settle what earlier ones left waiting. */
export type ToolMessage = Readonly<z.infer<typeof ToolMessage>>;
export type ToolPart = ToolMessage['content'][number];

export type Message = UserMessage | ModelMessage | ToolMessage;
export const Message: z.ZodType<Message> = z.discriminatedUnion('role', [
  UserMessage,
  ModelMessage,
  ToolMessage,
]);

/** Messages this process has written or checked already; checking the same object twice costs and finds nothing. */
const checked = new WeakSet<object>();

/** Reads one message back from wherever it was kept; `index` is only for the error. */
export function parseMessage(value: unknown, index = 0): Message {
  if (typeof value === 'object' && value !== null && checked.has(value)) return value as Message;
  const result = Message.safeParse(value);
  if (!result.success) {
    const issue = result.error.issues[0];
    const where = issue === undefined ? '' : ` (${issue.path.join('.') || 'the message'}: ${issue.message})`;
    throw new HistoryError('malformed-message', `not a message of version ${MESSAGE_VERSION}${where}`, index);
  }
  return sealMessage(result.data);
}

/** The words of a list's messages as they stand in JSON, where they do; only of lists that were checked and that nobody can change. */
const checkedLists = new WeakMap<object, readonly (string | undefined)[]>();

/** Reads the messages of a thread back from their texts, each checked once; the list says so to whoever takes it next. */
export function readMessages(texts: readonly string[]): readonly Message[] {
  const words: (string | undefined)[] = [];
  const messages = texts.map((text, index) => {
    const plain = readPlainMessage(text);
    words.push(plain?.words);
    return plain?.message ?? parseText(text, index);
  });
  checkedLists.set(Object.freeze(messages), words);
  return messages;
}

/** Tells whether every message of a list was checked already. */
export function isCheckedList(messages: readonly unknown[]): messages is readonly Message[] {
  return checkedLists.has(messages);
}

/** The words of a checked list's messages as they stand in JSON, where they are known so. */
export function wordsOf(messages: readonly Message[]): readonly (string | undefined)[] {
  return checkedLists.get(messages) ?? [];
}

function parseText(text: string, index: number): Message {
  const value: unknown = JSON.parse(text);
  return isMessage(value) ? (value as Message) : parseMessage(value, index);
}

/** Marks a message as well-formed and freezes it: a message is written once and never changed. */
export function sealMessage<Sealed extends Message>(message: Sealed): Sealed {
  checked.add(message);
  Object.freeze(message.content);
  return Object.freeze(message);
}

/** What a person said. */
export function userMessage(text: string, metadata?: JsonObject): UserMessage {
  return sealMessage({
    v: MESSAGE_VERSION,
    role: 'user',
    content: [{ text }],
    ...(metadata !== undefined && { metadata }),
  });
}
