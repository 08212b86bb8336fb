import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Model, type OpenAIModelOptions, openAIModel } from '../../../src/index.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that answers every request in the same way, and the real client for it. */
export async function serve(answer: Answer, options: Partial<OpenAIModelOptions> = {}): Promise<Model> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  return openAIModel({ model: 'other', apiKey: 'test', baseURL, maxRetries: 0, firstRetryMs: 1, ...options });
}

/** Asks a model without any loop around it. */
export async function ask(model: Model, signal?: AbortSignal) {
  const deltas: string[] = [];
  const reply = await model.reply({
    system: undefined,
    history: [{ role: 'user', text: 'Go' }],
    tools: [],
    signal,
    onText: (delta) => deltas.push(delta),
  });
  return { ...reply, deltas };
}

export const event = (body: object) => `data: ${JSON.stringify(body)}\n\n`;
export const chunk = (delta: object, finishReason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason: finishReason }] });

export function streaming(...events: string[]): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end([...events, 'data: [DONE]\n\n'].join(''));
  };
}

export interface Piece {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly name?: string;
  readonly args?: string | object;
}

export const calling = (...pieces: Piece[]) =>
  chunk({
    tool_calls: pieces.map(({ index, id, name, args }) => ({
      index,
      id,
      function: { name, arguments: args },
    })),
  });
