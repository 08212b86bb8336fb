import OpenAI from 'openai';
import type { ChatCompletionChunk, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { onTestFinished } from 'vitest';
import { type LocalModelOptions, startLocalModel } from '../../../playground/model/start-local-model.ts';

/** Starts a local model, which stops after the test, and a client for it. */
export async function start(options: LocalModelOptions = {}, maxRetries = 0) {
  const model = await startLocalModel(options);
  onTestFinished(() => model.stop());
  return { model, client: new OpenAI({ apiKey: 'local', baseURL: model.url, maxRetries }) };
}

export const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Refund order 7.' }];
export const body = { model: 'scripted', messages };

/** Collects the chunks of a streamed answer. */
export async function stream(
  client: OpenAI,
  options: { include_usage?: boolean } = {},
  signal?: AbortSignal,
) {
  const chunks: ChatCompletionChunk[] = [];
  const request = { ...body, stream: true as const, stream_options: options };
  for await (const chunk of await client.chat.completions.create(request, { signal })) chunks.push(chunk);
  return chunks;
}

export const deltasOf = (chunks: ChatCompletionChunk[]) =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
export const textOf = (chunks: ChatCompletionChunk[]) =>
  deltasOf(chunks)
    .map(({ content }) => content ?? '')
    .join('');
