import type { ChatRequest } from './chat-request.ts';
import type { CompletionReply, ScriptedCall } from './model-reply.ts';

/** The ids and the time of one answer. */
export interface Identity {
  id: string;
  created: number;
  /** A call id that is free in this server and in the history of the request. */
  nextCallId: () => string;
}

export interface Answer {
  text: readonly string[] | undefined;
  refusal: string | undefined;
  calls: readonly { id: string; name: string; arguments: string }[];
  finishReason: string;
}

/** The body of an answer that is not streamed; always carries usage. */
export function buildCompletion(reply: CompletionReply, request: ChatRequest, identity: Identity): object {
  const answer = readAnswer(reply, identity);
  return {
    ...envelope('chat.completion', request, identity),
    choices: answer === undefined ? [] : [wholeChoice(answer)],
    usage: countUsage(reply, answer, request),
  };
}

/** Builds the chunks of a streamed answer; the id and name of a call are only in the first delta of its index. */
export function buildChunks(reply: CompletionReply, request: ChatRequest, identity: Identity): object[] {
  const answer = readAnswer(reply, identity);
  const withUsage = request.stream_options?.include_usage === true;
  const frame = {
    ...envelope('chat.completion.chunk', request, identity),
    ...(withUsage ? { usage: null } : {}),
  };
  const choice = (delta: object, finishReason: string | null = null) => ({
    ...frame,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  });
  const chunks: object[] =
    answer === undefined
      ? [{ ...frame, choices: [] }]
      : [...deltas(answer).map((delta) => choice(delta)), choice({}, answer.finishReason)];
  if (withUsage) chunks.push({ ...frame, choices: [], usage: countUsage(reply, answer, request) });
  return chunks;
}

/** The parts of a scripted answer, whatever form it is sent in; undefined for one without any. */
export function readAnswer(reply: CompletionReply, identity: Identity): Answer | undefined {
  if ('empty' in reply) return undefined;
  if ('refusal' in reply) {
    return { text: undefined, refusal: reply.refusal, calls: [], finishReason: 'stop' };
  }
  const text = typeof reply.text === 'string' ? split(reply.text) : reply.text;
  if ('calls' in reply) {
    const calls = reply.calls.map((call) => writeCall(call, identity));
    return { text, refusal: undefined, calls, finishReason: reply.finishReason ?? 'tool_calls' };
  }
  return { text, refusal: undefined, calls: [], finishReason: reply.finishReason ?? 'stop' };
}

function writeCall(call: ScriptedCall, identity: Identity): Answer['calls'][number] {
  const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
  return { id: call.id ?? identity.nextCallId(), name: call.name, arguments: text };
}

function envelope(object: string, request: ChatRequest, { id, created }: Identity): object {
  return {
    id,
    object,
    created,
    model: request.model,
    service_tier: 'default',
    system_fingerprint: 'fp_local',
  };
}

function wholeChoice({ text, refusal, calls, finishReason }: Answer): object {
  const toolCalls = calls.map(({ id, ...definition }) => ({ id, type: 'function', function: definition }));
  return {
    index: 0,
    message: {
      role: 'assistant',
      content: text?.join('') ?? null,
      ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
      refusal: refusal ?? null,
      annotations: [],
    },
    logprobs: null,
    finish_reason: finishReason,
  };
}

function deltas({ text, refusal, calls }: Answer): object[] {
  return [
    {
      role: 'assistant',
      content: text === undefined ? null : '',
      refusal: refusal === undefined ? null : '',
    },
    ...(text ?? []).map((content) => ({ content })),
    ...split(refusal ?? '').map((piece) => ({ refusal: piece })),
    ...calls.flatMap(({ id, name, arguments: text }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...split(text).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
}

/** Splits a text into at least two pieces for two or more characters, so that clients must join them. */
export function split(text: string): string[] {
  const characters = Array.from(text);
  const size = Math.min(8, Math.ceil(characters.length / 2));
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += size) {
    pieces.push(characters.slice(start, start + size).join(''));
  }
  return pieces;
}

function countUsage(reply: CompletionReply, answer: Answer | undefined, request: ChatRequest): object {
  const prompt = reply.usage?.promptTokens ?? estimateTokens(request.messages);
  const completion = reply.usage?.completionTokens ?? (answer === undefined ? 0 : estimateTokens(answer));
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: reply.usage?.cachedTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reply.usage?.reasoningTokens ?? 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function estimateTokens(value: object): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}
