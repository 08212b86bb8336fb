import { HistoryError, type HistoryErrorCode, requireList } from './errors.ts';
import { modelItem, textOf, userItem } from './history.ts';
import { canonicalJson, isJsonObject, type JsonValue } from './json.ts';
import {
  type CallPart,
  type Interrupt,
  type Message,
  type ModelMessage,
  type ProviderData,
  parseMessages,
  type ResponsePart,
  sealMessages,
  type ToolMessage,
  type Usage,
  type UserMessage,
} from './messages.ts';
import type { HistoryItem } from './model.ts';

/** The state of one call of the latest round. */
export type CallState = { readonly part: CallPart } & (
  | { readonly state: 'open' }
  | { readonly state: 'waiting'; readonly interrupt: Interrupt<string, JsonValue> }
  | { readonly state: 'settled'; readonly response: ResponsePart }
);

/** The part of a transcript that its latest round decides. */
export type LatestRound = Pick<Transcript, 'append' | 'round' | 'interrupts' | 'text'>;

const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/**
 * The messages of a thread, append-only, with the state that follows from them. It accepts only a history that a model may be sent:
 * every call has one result, under its own name, before anybody speaks again.
 */
export class Transcript {
  readonly #messages: Message[] = [];
  /** The place of the first message in its history. */
  #start = 0;
  readonly #history: HistoryItem[] = [];
  readonly #round = new Map<string, CallState>();
  readonly #refs = new Set<string>();
  readonly #denials = new Map<string, string>();
  #text = '';
  #steps = 0;
  #usage = NO_USAGE;
  #system: string | undefined;
  #provider: ProviderData | undefined;

  /** Reads messages; a call among them that neither waits nor has a result is an error, unless the last round may be open. */
  static of(
    messages: readonly unknown[] = [],
    { mayBeOpen = false }: { readonly mayBeOpen?: boolean } = {},
  ): Transcript {
    requireList('messages', messages);
    return Transcript.#read(parseMessages(messages), 0, mayBeOpen);
  }

  /** Reads a checked history from its latest model message on; what follows from earlier messages is missing. */
  static latestRound(
    messages: readonly Message[],
    { mayBeOpen = false }: { readonly mayBeOpen?: boolean } = {},
  ): LatestRound {
    const start = messages.findLastIndex(({ role }) => role === 'model');
    return Transcript.#read(messages, Math.max(0, start), mayBeOpen);
  }

  static #read(messages: readonly Message[], start: number, mayBeOpen: boolean): Transcript {
    const transcript = new Transcript();
    transcript.#start = start;
    for (const message of messages.slice(start)) transcript.append(message);
    for (const call of transcript.#round.values())
      if (call.state === 'open' && !mayBeOpen) transcript.#failDangling(call);
    return transcript;
  }

  append(message: Message): void {
    if (message.role === 'tool') this.#appendResults(message);
    else {
      const unsettled = this.#firstUnsettled();
      if (unsettled !== undefined) this.#failDangling(unsettled);
      if (message.role === 'model') this.#appendModel(message);
      else this.#appendUser(message);
    }
    this.#messages.push(message);
  }

  /** The number of messages so far. */
  get length(): number {
    return this.#messages.length;
  }

  /** A frozen list of the messages so far. */
  get messages(): readonly Message[] {
    return sealMessages([...this.#messages]);
  }

  /** The history in the form that a model is sent; a round appears in it when its last call is settled. */
  get history(): readonly HistoryItem[] {
    return [...this.#history];
  }

  /** The calls of the latest model message, in the order in which the model made them. */
  get round(): ReadonlyMap<string, CallState> {
    return this.#round;
  }

  /** The latest text of the model since a person last spoke. */
  get text(): string {
    return this.#text;
  }

  /** The number of model messages since a person last spoke. */
  get steps(): number {
    return this.#steps;
  }

  /** The tokens used since a person last spoke. */
  get usage(): Usage {
    return this.#usage;
  }

  /** The system text that was given last with a prompt. */
  get system(): string | undefined {
    return this.#system;
  }

  get interrupts(): readonly Interrupt<string, JsonValue>[] {
    return [...this.#round.values()].flatMap((call) => (call.state === 'waiting' ? [call.interrupt] : []));
  }

  /** Tells whether a call of the latest model message has no result yet. */
  get isWaiting(): boolean {
    return this.#firstUnsettled() !== undefined;
  }

  /** Tells whether any call of this thread has this ref. */
  knows(ref: string): boolean {
    return this.#refs.has(ref);
  }

  /** Returns the reason why the same call was denied since a person last spoke. */
  denialOf(name: string, input: JsonValue): string | undefined {
    return this.#denials.get(callKey(name, input));
  }

  #appendUser(message: UserMessage): void {
    this.#round.clear();
    this.#denials.clear();
    this.#text = '';
    this.#steps = 0;
    this.#usage = NO_USAGE;
    this.#system = message.system ?? this.#system;
    this.#history.push(userItem(message));
  }

  #appendModel(message: ModelMessage): void {
    this.#round.clear();
    this.#text = textOf(message);
    this.#provider = message.provider;
    for (const part of message.content) {
      if (!('toolRequest' in part)) continue;
      const { ref } = part.toolRequest;
      if (this.knows(ref)) this.#fail('repeated-ref', `two calls have the ref ${ref}`, ref);
      this.#refs.add(ref);
      this.#round.set(ref, { state: 'open', part });
    }
    this.#steps += 1;
    this.#usage = addUsage(this.#usage, message.usage);
    this.#closeRound();
  }

  #appendResults(message: ToolMessage): void {
    for (const part of message.content) {
      const isResponse = 'toolResponse' in part;
      const { ref, name } = isResponse ? part.toolResponse : part.interrupt.toolRequest;
      const call = this.#round.get(ref);
      if (call === undefined || call.part.toolRequest.name !== name) {
        this.#fail('orphan-result', `no call of "${name}" with the ref ${ref} is open`, ref);
      }
      if (call.state === 'settled') this.#fail('repeated-result', `call ${ref} has its result already`, ref);
      if (!isResponse) {
        this.#round.set(ref, { state: 'waiting', part: call.part, interrupt: part.interrupt });
        continue;
      }
      this.#round.set(ref, { state: 'settled', part: call.part, response: part });
      if (part.status === 'denied') this.#recordDenial(call.part, part);
    }
    if (message.content.length > 0) this.#closeRound();
  }

  #recordDenial(call: CallPart, response: ResponsePart): void {
    const { name, input } = call.toolRequest;
    const { output } = response.toolResponse;
    const reason = isJsonObject(output) && 'reason' in output ? String(output.reason) : '';
    const { input: ran = input } = response;
    for (const denied of [input, ran]) {
      const key = callKey(name, denied);
      if (!this.#denials.has(key)) this.#denials.set(key, reason);
    }
  }

  /** Adds the round to the history once all of its calls are settled. */
  #closeRound(): void {
    if (this.isWaiting) return;
    const calls = [...this.#round.values()].filter((call) => call.state === 'settled');
    this.#history.push(modelItem(this.#text, calls, this.#provider));
  }

  #firstUnsettled(): CallState | undefined {
    for (const call of this.#round.values()) if (call.state !== 'settled') return call;
    return undefined;
  }

  #failDangling({ part: { toolRequest } }: CallState): never {
    this.#fail('dangling-call', `call ${toolRequest.ref} has no result yet`, toolRequest.ref);
  }

  #fail(code: HistoryErrorCode, message: string, ref?: string): never {
    throw new HistoryError(code, message, this.#start + this.#messages.length, ref);
  }
}

/** Appends messages of people to a checked history and returns both; throws a `HistoryError` if a call before them has no result. */
export function withMessages(messages: readonly Message[], more: readonly UserMessage[]): readonly Message[] {
  const latest = Transcript.latestRound(messages);
  for (const message of more) latest.append(message);
  return sealMessages([...messages, ...more]);
}

function addUsage(total: Usage, step: Usage | undefined): Usage {
  if (step === undefined) return total;
  return {
    inputTokens: total.inputTokens + step.inputTokens,
    outputTokens: total.outputTokens + step.outputTokens,
    totalTokens: total.totalTokens + step.totalTokens,
    ...addOptional('cachedTokens', total, step),
    ...addOptional('reasoningTokens', total, step),
  };
}

/** Adds a count that not every provider reports. */
function addOptional(field: 'cachedTokens' | 'reasoningTokens', total: Usage, step: Usage): Partial<Usage> {
  if (total[field] === undefined && step[field] === undefined) return {};
  return { [field]: (total[field] ?? 0) + (step[field] ?? 0) };
}

function callKey(name: string, input: JsonValue): string {
  return `${name} ${canonicalJson(input)}`;
}
