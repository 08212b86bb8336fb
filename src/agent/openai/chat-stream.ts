import { APIError } from 'openai';
import { z } from 'zod';
import { tryParseJson } from '../json.ts';
import type { Usage } from '../messages.ts';
import type { ModelFinish, ModelReply } from '../model.ts';

const Text = z.string().nullish();
/** Some servers leave a count out; a message without it could not be read back. */
const Count = z.number().int().nonnegative().catch(0);
const ChatUsage = z.object({ prompt_tokens: Count, completion_tokens: Count, total_tokens: Count });
/** Some servers send content as a list of parts, with the model's thinking among them. */
const ContentPart = z.union([z.string(), z.object({ type: Text, text: Text })]);
const Content = z.union([z.string(), z.array(ContentPart)]).nullish();
const CallPiece = z.object({
  index: z.number().nullish(),
  id: Text,
  function: z
    .object({ name: Text, arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish() })
    .nullish(),
});
type CallPiece = z.infer<typeof CallPiece>;
const Delta = z.object({ content: Content, refusal: Text, tool_calls: z.array(CallPiece).nullish() });

/** One chunk of a stream, or a whole answer, which has a `message` in place of each `delta`. */
const Chunk = z.object({
  choices: z
    .array(z.object({ delta: Delta.nullish(), message: Delta.nullish(), finish_reason: Text }))
    .nullish(),
  usage: ChatUsage.nullish().catch(undefined),
  error: z.unknown().optional(),
  object: z.unknown().optional(),
});

interface PartialCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

/** Assembles one answer from its chunks. It tolerates the known deviations of servers that are compatible with OpenAI. */
export class ChatAnswer {
  readonly #calls: PartialCall[] = [];
  #text = '';
  #isRefused = false;
  #hasChoice = false;
  #finishReason: string | undefined;
  #usage: Usage | undefined;
  #failure: unknown;

  /** Yields the text of an answer as it arrives. A failure ends it early: `failure` keeps the reason and `reply` what arrived. */
  async *read(chunks: AsyncIterable<unknown>): AsyncGenerator<string, void> {
    try {
      for await (const chunk of chunks) {
        const text = this.#add(chunk);
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

  get isEmpty(): boolean {
    return this.#text === '' && this.#calls.length === 0;
  }

  /** Returns the answer as far as it arrived; `broken` overrides how it ended. */
  reply(broken?: 'cut' | 'aborted'): ModelReply {
    return {
      finish: broken ?? this.#finish(),
      text: this.#text,
      calls: this.#calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
      usage: this.#usage,
    };
  }

  #finish(): ModelFinish {
    if (this.#finishReason === undefined && this.#failure !== undefined) return 'cut';
    if (this.#isRefused) return 'refusal';
    switch (this.#finishReason) {
      case 'length':
        return 'length';
      case 'content_filter':
        return 'content-filter';
      case undefined:
        return this.#hasChoice ? 'cut' : 'empty';
      default:
        return 'stop';
    }
  }

  /** Adds one chunk and returns the text in it. */
  #add(value: unknown): string {
    const { choices, usage, error, object } = Chunk.parse(value);
    if (error !== undefined && error !== null) throw streamError(error);
    if (object === 'error') throw streamError(value);
    if (usage !== undefined && usage !== null) this.#usage = readUsage(usage);
    const choice = choices?.[0];
    if (choice === undefined) return '';
    this.#hasChoice = true;
    const { delta, message, finish_reason: finishReason } = choice;
    if (finishReason) this.#finishReason = finishReason;
    // A whole answer has nothing after it, whether or not it gives a reason.
    else if (message) this.#finishReason ??= 'stop';
    const { content, refusal, tool_calls: pieces } = delta ?? message ?? {};
    for (const piece of pieces ?? []) this.#addCall(piece);
    if (refusal) this.#isRefused = true;
    const text = textOf(content) || refusal || '';
    this.#text += text;
    return text;
  }

  #addCall(piece: CallPiece): void {
    let call = this.#findCall(piece);
    if (call === undefined) {
      call = { index: piece.index ?? undefined, id: '', name: '', arguments: '' };
      this.#calls.push(call);
    }
    call.id ||= piece.id ?? '';
    call.name ||= piece.function?.name ?? '';
    call.arguments += argumentsOf(piece);
  }

  /** Finds the call that a piece continues; `undefined` means that it starts a new call. */
  #findCall(piece: CallPiece): PartialCall | undefined {
    const { index, id } = piece;
    // Ollama gives every call of an answer the index 0; others give no index and repeat the id in each piece.
    const candidates =
      typeof index === 'number' ? this.#calls.filter((call) => call.index === index) : this.#calls;
    const known = id ? candidates.find((call) => call.id === id) : undefined;
    const latest = candidates.at(-1);
    return known ?? (latest === undefined || startsCall(piece, latest) ? undefined : latest);
  }
}

/** Decides whether a piece with an unknown id or none starts a call, and does not continue the latest one in its place. */
function startsCall({ index, id, function: called }: CallPiece, latest: PartialCall): boolean {
  if (typeof index !== 'number' && id) return true;
  // A call is named in its first piece; some versions of vLLM give each later piece a new id.
  if (!called?.name || latest.name === '') return false;
  return Boolean(id) || called.name !== latest.name || tryParseJson(latest.arguments) !== undefined;
}

function argumentsOf(piece: CallPiece): string {
  const given = piece.function?.arguments ?? '';
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function textOf(content: z.infer<typeof Content>): string {
  if (!Array.isArray(content)) return content ?? '';
  const texts = content.map((part) => {
    if (typeof part === 'string') return part;
    return (part.type ?? 'text') === 'text' ? (part.text ?? '') : '';
  });
  return texts.join('');
}

function streamError(error: unknown): APIError {
  return new APIError(
    undefined,
    typeof error === 'object' ? (error ?? undefined) : { message: String(error) },
    undefined,
    undefined,
  );
}

function readUsage(usage: z.infer<typeof ChatUsage>): Usage {
  const inputTokens = usage.prompt_tokens;
  const outputTokens = usage.completion_tokens;
  return { inputTokens, outputTokens, totalTokens: usage.total_tokens || inputTokens + outputTokens };
}
