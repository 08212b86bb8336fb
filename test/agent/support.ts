import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { ChatRequest } from '../../playground/model/chat-request.ts';
import { checkRequest } from '../../playground/model/check-request.ts';
import type { CallsReply, ModelReply, ScriptedCall, TextReply } from '../../playground/model/model-reply.ts';
import { type LocalModel, startLocalModel } from '../../playground/model/start-local-model.ts';
import {
  defineInterrupt,
  defineTool,
  type Interrupt,
  type Message,
  type Model,
  type OpenAIModelOptions,
  openAIModel,
  type ToolHelpers,
} from '../../src/index.ts';

/** A local model that plays these replies, and the real client for it; both end with the test, which fails on any refused request. */
export async function scripted(
  ...script: ModelReply[]
): Promise<{ readonly model: Model; readonly server: LocalModel }> {
  const server = await startLocalModel({ script });
  onTestFinished(async () => {
    await server.stop();
    expect(server.refusals).toEqual([]);
  });
  return { server, model: clientOf(server) };
}

/** The real client for a local model, with retries that do not keep a test waiting. */
export function clientOf(server: LocalModel, options: Partial<OpenAIModelOptions> = {}): Model {
  return openAIModel({
    model: 'scripted',
    apiKey: 'test',
    baseURL: server.url,
    firstRetryMs: 1,
    ...options,
  });
}

export function says(text: string): TextReply {
  return { text };
}

export function calls(...scriptedCalls: ScriptedCall[]): CallsReply {
  return { calls: scriptedCalls };
}

export function call(id: string, name: string, input: object | string = {}): ScriptedCall {
  return { id, name, arguments: input };
}

export function transferCall(id: string, amount: number): ScriptedCall {
  return call(id, 'transfer', { amount });
}

/** A tool without input that does what it is told. */
export function doing<Name extends string>(name: Name, run: (helpers: ToolHelpers) => unknown) {
  return defineTool({ name, description: 'Does something.' }, (_input, helpers) => run(helpers));
}

/** Copies a value through JSON and freezes it deeply, so that any change to it throws. */
export function stored<Value>(value: Value): Value {
  return freeze(JSON.parse(JSON.stringify(value)));
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

/** The interrupt of the call with this ref. */
export function waiting(response: { readonly interrupts: readonly Interrupt[] }, ref: string): Interrupt {
  const found = response.interrupts.find(({ toolRequest }) => toolRequest.ref === ref);
  if (found === undefined) throw new Error(`No call with the ref ${ref} waits.`);
  return found;
}

/** The results in the latest request, by call id, in the order the model got them; the request must be valid. */
export function sentResults(server: LocalModel): [id: string, content: unknown][] {
  return resultsOf(latestRequest(server));
}

export function latestRequest(server: LocalModel): ChatRequest {
  const request = server.requests.at(-1);
  if (request === undefined) throw new Error('The model was not called.');
  expect(checkRequest(request)).toBeUndefined();
  return request;
}

function resultsOf(request: ChatRequest): [string, unknown][] {
  return request.messages.flatMap((message) =>
    message.role === 'tool' ? [[message.tool_call_id, message.content]] : [],
  );
}

/** The calls in the latest request as the model is told of them. */
export function sentCalls(server: LocalModel): { id: string; name: string; input: unknown }[] {
  return latestRequest(server).messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) => ({
          id,
          name,
          input: JSON.parse(input),
        }))
      : [],
  );
}

/** The results kept in messages, by ref. */
export function keptResults(messages: readonly Message[]): Record<string, unknown> {
  const results = messages.flatMap((message) =>
    message.role === 'tool' ? message.content.flatMap((part) => ('toolResponse' in part ? [part] : [])) : [],
  );
  return Object.fromEntries(results.map(({ toolResponse: { ref, output } }) => [ref, output]));
}

/** The reason of a rejected promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('It was not refused.'),
    (error: unknown) => error,
  );
}

/** A tool that needs approval, one that does not, and one that asks; `ran` tells what took effect. */
export function buildTools() {
  const ran: string[] = [];
  const transfer = defineTool(
    {
      name: 'transfer',
      description: 'Moves money once somebody agrees.',
      inputSchema: z.object({ amount: z.number(), currency: z.string().default('EUR') }),
      outputSchema: z.object({ moved: z.number() }),
    },
    ({ amount }, { resumed, interrupt, deny }) => {
      if (resumed === undefined) return interrupt({ limit: 100 });
      if (resumed.again === true) interrupt({ limit: 200 });
      if (resumed.deny === true) deny('too much');
      ran.push(`transfer ${amount}`);
      return { moved: amount };
    },
  );
  const look = defineTool(
    { name: 'look', description: 'Looks something up.', inputSchema: z.object({ key: z.string() }) },
    ({ key }) => {
      ran.push(`look ${key}`);
      return `value of ${key}`;
    },
  );
  const ask = defineInterrupt({
    name: 'ask',
    description: 'Asks a person.',
    inputSchema: z.object({ question: z.string() }),
    outputSchema: z.object({ answer: z.string() }),
  });
  return { ran, transfer, look, ask, tools: [transfer, look, ask] as const };
}
