import { HistoryError, type HistoryErrorCode } from './errors.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import {
  type CallPart,
  type Interrupt,
  isCheckedList,
  type Message,
  type ModelMessage,
  parseMessage,
  type ResponsePart,
  type ToolMessage,
  type Usage,
  wordsOf,
} from './messages.ts';
import type { HistoryItem, SettledCall } from './model.ts';

/** What has become of one call of the latest round. */
export type CallState = {
  readonly part: CallPart;
  /** Its input as it stands in JSON, where that is known. */
  readonly inputWords: string | undefined;
} & (
  | { readonly state: 'open' }
  | { readonly state: 'waiting'; readonly interrupt: Interrupt<string, JsonValue> }
  | { readonly state: 'settled'; readonly response: ResponsePart; readonly outputWords: string | undefined }
);

const NO_CALLS: readonly never[] = Object.freeze([]);
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The transcripts of lists of messages that can no longer change. */
const transcripts = new WeakMap<object, Transcript>();

/**
 * The messages of a thread and what follows from them, kept up to date message by message. It takes only a history that
 * a model may be shown: a call is answered once, by its own name, before anybody speaks again.
 */
export class Transcript {
  readonly messages: Message[];
  /** The history as a model is told it; a round appears here when its last call is settled. */
  readonly history: HistoryItem[];
  /** The calls of the latest model message, in the order the model made them. */
  readonly round: ReadonlyMap<string, CallState>;
  /** What the model said last since a person last spoke. */
  text: string;
  /** Model messages since a person last spoke. */
  steps: number;
  /** Tokens used since a person last spoke. */
  usage: Usage;
  /** The transcript that this one goes on from. */
  readonly #before: Transcript | undefined;
  readonly #calls: Map<string, CallState>;
  /** The refs of the calls since then. */
  readonly #refs = new Set<string>();
  readonly #denials: Map<string, string>;
  #unsettled: number;
  #isSealed = false;

  private constructor(before?: Transcript) {
    this.#before = before;
    this.messages = before === undefined ? [] : before.messages.slice();
    this.history = before === undefined ? [] : before.history.slice();
    this.#calls = new Map(before?.round);
    this.#denials = new Map(before === undefined ? [] : before.#denials);
    this.round = this.#calls;
    this.text = before?.text ?? '';
    this.steps = before?.steps ?? 0;
    this.usage = before?.usage ?? NO_USAGE;
    this.#unsettled = before === undefined ? 0 : before.#unsettled;
  }

  /** The transcript of some messages, to be read; of messages that are known already it is the one that is there. */
  static of(messages: readonly unknown[] = []): Transcript {
    const known = transcripts.get(messages);
    if (known !== undefined) return known;
    const transcript = new Transcript();
    const isChecked = isCheckedList(messages);
    if (isChecked) {
      const words = wordsOf(messages);
      for (const [index, message] of messages.entries()) transcript.append(message, words[index]);
    } else for (const [index, message] of messages.entries()) transcript.append(parseMessage(message, index));
    transcript.#refuseOpen();
    if (isChecked) transcript.#sealAs(messages);
    return transcript;
  }

  /** A transcript that begins with some messages and goes on by itself. */
  static from(messages: readonly unknown[] = []): Transcript {
    const transcript = Transcript.of(messages);
    return transcript.#isSealed ? new Transcript(transcript) : transcript;
  }

  /** Takes one more message; its words as they stand in JSON, where they are known so, are kept for whoever writes them again. */
  append(message: Message, words?: string): void {
    if (this.#isSealed) throw new TypeError('A transcript whose messages were handed out takes no more');
    if (message.role === 'tool') this.#appendResults(message, words);
    else {
      this.#refuseUnsettled();
      if (message.role === 'model') this.#appendModel(message, words);
      else this.#appendUser(textOf(message), words);
    }
    this.messages.push(message);
  }

  /** Ends the transcript and hands its messages out; whoever brings them back is spared to have them read again. */
  seal(): readonly Message[] {
    this.#sealAs(Object.freeze(this.messages));
    return this.messages;
  }

  #sealAs(messages: readonly unknown[]): void {
    this.#isSealed = true;
    // A call without a result may not be taken up again, so such messages are read anew, and refused.
    if (![...this.#calls.values()].some(({ state }) => state === 'open')) transcripts.set(messages, this);
  }

  /** Tells whether any call of this thread, settled or not, has this ref. */
  knows(ref: string): boolean {
    return this.#refs.has(ref) || this.#before?.knows(ref) === true;
  }

  /** The reason for which this very call was denied since a person last spoke. */
  denialOf(name: string, input: JsonValue): string | undefined {
    return this.#denials.size === 0 ? undefined : this.#denials.get(callKey(name, input));
  }

  get interrupts(): Interrupt<string, JsonValue>[] {
    return [...this.round.values()].flatMap((call) => (call.state === 'waiting' ? [call.interrupt] : []));
  }

  /** Tells whether the latest model message still has calls without a result. */
  get isWaiting(): boolean {
    return this.#unsettled > 0;
  }

  #appendUser(text: string, words: string | undefined): void {
    this.#calls.clear();
    this.#denials.clear();
    this.text = '';
    this.steps = 0;
    this.usage = NO_USAGE;
    this.history.push({ role: 'user', text, words });
  }

  #appendModel(message: ModelMessage, words: string | undefined): void {
    this.#calls.clear();
    this.text = textOf(message);
    for (const part of message.content) {
      if (!('toolRequest' in part)) continue;
      const { ref } = part.toolRequest;
      if (this.knows(ref)) this.#fail('repeated-ref', `two calls have the ref ${ref}`, ref);
      this.#refs.add(ref);
      this.#calls.set(ref, { state: 'open', part, inputWords: words });
    }
    this.#unsettled = this.#calls.size;
    this.steps += 1;
    this.usage = addUsage(this.usage, message.usage);
    if (this.#unsettled === 0) this.#closeRound(words);
  }

  #appendResults(message: ToolMessage, words: string | undefined): void {
    for (const part of message.content) {
      const isResponse = 'toolResponse' in part;
      const { ref, name } = isResponse ? part.toolResponse : part.interrupt.toolRequest;
      const call = this.#calls.get(ref);
      if (call === undefined || call.part.toolRequest.name !== name) {
        this.#fail('orphan-result', `no call of "${name}" with the ref ${ref} is open`, ref);
      }
      if (call.state === 'settled') this.#fail('repeated-result', `call ${ref} has its result already`, ref);
      const { part: made, inputWords } = call;
      if (!isResponse) {
        this.#calls.set(ref, { state: 'waiting', part: made, inputWords, interrupt: part.interrupt });
        continue;
      }
      this.#calls.set(ref, { state: 'settled', part: made, inputWords, response: part, outputWords: words });
      this.#unsettled -= 1;
      if (part.status === 'denied') this.#remember(made, part);
    }
    if (this.#unsettled === 0) this.#closeRound();
  }

  #remember(call: CallPart, response: ResponsePart): void {
    const { name, input } = call.toolRequest;
    const reason = deniedReason(response);
    for (const denied of [input, ...(response.input === undefined ? [] : [response.input])]) {
      const key = callKey(name, denied);
      if (!this.#denials.has(key)) this.#denials.set(key, reason);
    }
  }

  #closeRound(words?: string): void {
    // Most of a long history are words alone.
    if (this.#calls.size === 0) {
      this.history.push({ role: 'model', text: this.text, words, calls: NO_CALLS });
      return;
    }
    const calls: SettledCall[] = [];
    for (const call of this.#calls.values()) {
      if (call.state !== 'settled') continue;
      const { part, response, outputWords } = call;
      const { ref, name, input: asked } = part.toolRequest;
      const { output } = response.toolResponse;
      const { input = asked } = response;
      const inputWords = input === asked ? call.inputWords : undefined;
      calls.push({ ref, name, input, output, inputWords, outputWords });
    }
    this.history.push({ role: 'model', text: this.text, calls });
  }

  #refuseUnsettled(): void {
    if (this.#unsettled === 0) return;
    const open = [...this.#calls.values()].find((call) => call.state !== 'settled');
    if (open !== undefined) this.#failDangling(open);
  }

  #refuseOpen(): void {
    for (const call of this.#calls.values()) if (call.state === 'open') this.#failDangling(call);
  }

  #failDangling({ part: { toolRequest } }: CallState): never {
    this.#fail('dangling-call', `call ${toolRequest.ref} has no result yet`, toolRequest.ref);
  }

  #fail(code: HistoryErrorCode, message: string, ref?: string): never {
    throw new HistoryError(code, message, this.messages.length, ref);
  }
}

/** Some messages with more after them, of which only those have to be read. */
export function withMessages(messages: readonly Message[], more: readonly Message[]): readonly Message[] {
  if (more.length === 0) return messages;
  const transcript = Transcript.from(messages);
  for (const message of more) transcript.append(message);
  return transcript.seal();
}

function textOf(message: Message): string {
  if (message.role === 'tool') return '';
  const [first] = message.content;
  if (message.content.length === 1 && first !== undefined && 'text' in first) return first.text;
  return message.content.map((part) => ('text' in part ? part.text : '')).join('');
}

function addUsage(total: Usage, step: Usage | undefined): Usage {
  if (step === undefined) return total;
  return {
    inputTokens: total.inputTokens + step.inputTokens,
    outputTokens: total.outputTokens + step.outputTokens,
    totalTokens: total.totalTokens + step.totalTokens,
  };
}

function callKey(name: string, input: JsonValue): string {
  return `${name} ${canonicalJson(input)}`;
}

function deniedReason(response: ResponsePart): string {
  const { output } = response.toolResponse;
  return typeof output === 'object' && output !== null && 'reason' in output ? String(output.reason) : '';
}
