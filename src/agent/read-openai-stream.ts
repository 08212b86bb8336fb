import type OpenAI from 'openai';
import type { Usage } from './messages.ts';
import type { ModelFinish, ModelReply, RawCall } from './model.ts';

type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk;
type Delta = Chunk['choices'][number]['delta'];

/** Puts the chunks of one streamed answer together; `finish` says how it ended, also when it broke off. */
export class OpenAIStreamReader {
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #text = '';
  #refused = false;
  #sawChoice = false;
  #finishReason: string | undefined;
  #usage: Usage | undefined;

  /** Takes the next chunk and gives the words in it. */
  add(chunk: Chunk): string {
    if (chunk.usage) this.#usage = readUsage(chunk.usage);
    const choice = chunk.choices?.[0];
    if (choice === undefined) return '';
    this.#sawChoice = true;
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    return this.#addDelta(choice.delta ?? {});
  }

  /** The answer so far; `broken` tells that the stream ended otherwise than by itself. */
  result(broken?: 'cut' | 'aborted'): ModelReply {
    const calls: RawCall[] = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    return { finish: broken ?? this.#finish(), text: this.#text, calls, usage: this.#usage };
  }

  #finish(): ModelFinish {
    if (this.#refused) return 'refusal';
    switch (this.#finishReason) {
      case 'length':
        return 'length';
      case 'content_filter':
        return 'content-filter';
      case undefined:
        return this.#sawChoice ? 'cut' : 'empty';
      default:
        return 'stop';
    }
  }

  #addDelta(delta: Delta): string {
    const said = delta.content || delta.refusal || '';
    if (delta.refusal) this.#refused = true;
    this.#text += said;
    for (const piece of delta.tool_calls ?? []) {
      const index = piece.index ?? this.#indexFor(piece.id);
      const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' };
      if (piece.id) call.id = piece.id;
      if (piece.function?.name) call.name = piece.function.name;
      call.arguments += piece.function?.arguments ?? '';
      this.#calls.set(index, call);
    }
    return said;
  }

  /** Some servers leave the index out and send each call whole, with its id. */
  #indexFor(id: string | undefined): number {
    return id === undefined ? Math.max(0, this.#calls.size - 1) : this.#calls.size;
  }
}

function readUsage(usage: OpenAI.CompletionUsage): Usage {
  const inputTokens = readCount(usage.prompt_tokens);
  const outputTokens = readCount(usage.completion_tokens);
  return {
    inputTokens,
    outputTokens,
    totalTokens: readCount(usage.total_tokens) || inputTokens + outputTokens,
  };
}

/** Some servers leave a count out; a message that kept it so could not be read back. */
function readCount(count: unknown): number {
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : 0;
}
