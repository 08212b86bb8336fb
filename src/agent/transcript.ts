import { HistoryError, type HistoryErrorCode } from './errors/history-error.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import {
  type CallPart,
  type Interrupt,
  type Message,
  type ModelMessage,
  parseMessage,
  type ResponsePart,
  type ToolMessage,
  type Usage,
} from './messages.ts';
import type { HistoryItem } from './model.ts';

/** What has become of one call of the latest round. */
export type CallState =
  | { readonly state: 'open'; readonly part: CallPart }
  | { readonly state: 'waiting'; readonly part: CallPart; readonly interrupt: Interrupt<string, JsonValue> }
  | { readonly state: 'settled'; readonly part: CallPart; readonly response: ResponsePart };

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/**
 * The messages of a thread and what follows from them, kept up to date message by message. It takes only a history that
 * a model may be shown: a call is answered once, by its own name, before anybody speaks again.
 */
export class Transcript {
  readonly messages: Message[] = [];
  /** The history as a model is told it; a round appears here when its last call is settled. */
  readonly history: HistoryItem[] = [];
  /** The calls of the latest model message, in the order the model made them. */
  round: ReadonlyMap<string, CallState> = new Map();
  /** What the model said last since a person last spoke. */
  text = '';
  /** Model messages since a person last spoke. */
  steps = 0;
  /** Tokens used since a person last spoke. */
  usage: Usage = NO_USAGE;
  readonly #calls = new Map<string, CallState>();
  readonly #refs = new Set<string>();
  readonly #denials = new Map<string, string>();
  #unsettled = 0;

  constructor(messages: readonly unknown[] = []) {
    this.round = this.#calls;
    for (const message of messages) this.append(parseMessage(message, this.messages.length));
    const open = [...this.#calls.values()].find(({ state }) => state === 'open');
    if (open !== undefined) this.#failDangling(open);
  }

  append(message: Message): void {
    if (message.role === 'tool') this.#appendResults(message);
    else {
      this.#refuseUnsettled();
      if (message.role === 'model') this.#appendModel(message);
      else this.#appendUser(textOf(message));
    }
    this.messages.push(message);
  }

  /** Tells whether any call of this thread, settled or not, has this ref. */
  knows(ref: string): boolean {
    return this.#refs.has(ref);
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

  #appendUser(text: string): void {
    this.#calls.clear();
    this.#denials.clear();
    this.text = '';
    this.steps = 0;
    this.usage = NO_USAGE;
    this.history.push({ role: 'user', text });
  }

  #appendModel(message: ModelMessage): void {
    this.#calls.clear();
    this.text = textOf(message);
    for (const part of message.content) {
      if (!('toolRequest' in part)) continue;
      const { ref } = part.toolRequest;
      if (this.#refs.has(ref)) this.#fail('repeated-ref', `two calls have the ref ${ref}`, ref);
      this.#refs.add(ref);
      this.#calls.set(ref, { state: 'open', part });
    }
    this.#unsettled = this.#calls.size;
    this.steps += 1;
    this.usage = addUsage(this.usage, message.usage);
    if (this.#unsettled === 0) this.#closeRound();
  }

  #appendResults(message: ToolMessage): void {
    for (const part of message.content) {
      const isResponse = 'toolResponse' in part;
      const { ref, name } = isResponse ? part.toolResponse : part.interrupt.toolRequest;
      const call = this.#calls.get(ref);
      if (call === undefined || call.part.toolRequest.name !== name) {
        this.#fail('orphan-result', `no call of "${name}" with the ref ${ref} is open`, ref);
      }
      if (call.state === 'settled') this.#fail('repeated-result', `call ${ref} has its result already`, ref);
      if (!isResponse) {
        this.#calls.set(ref, { state: 'waiting', part: call.part, interrupt: part.interrupt });
        continue;
      }
      this.#calls.set(ref, { state: 'settled', part: call.part, response: part });
      this.#unsettled -= 1;
      if (part.status === 'denied') this.#remember(call.part, part);
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

  #closeRound(): void {
    const calls = [...this.#calls.values()].flatMap((call) => {
      if (call.state !== 'settled') return [];
      const { ref, name, input } = call.part.toolRequest;
      return [{ ref, name, input: call.response.input ?? input, output: call.response.toolResponse.output }];
    });
    this.history.push({ role: 'model', text: this.text, calls });
  }

  #refuseUnsettled(): void {
    if (this.#unsettled === 0) return;
    const open = [...this.#calls.values()].find((call) => call.state !== 'settled');
    if (open !== undefined) this.#failDangling(open);
  }

  #failDangling({ part: { toolRequest } }: CallState): never {
    this.#fail('dangling-call', `call ${toolRequest.ref} has no result yet`, toolRequest.ref);
  }

  #fail(code: HistoryErrorCode, message: string, ref?: string): never {
    throw new HistoryError(code, message, this.messages.length, ref);
  }
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
