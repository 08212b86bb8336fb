import { expect, onTestFinished } from 'vitest';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { type LocalModelOptions, startLocalModel } from '../../../playground/model/start-local-model.ts';
import { generate, type Message, type OpenAIModelOptions, type openAIModel } from '../../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  clientOf,
  keptResults,
  says,
  scripted,
  stored,
  transferCall,
  waiting,
} from '../support.ts';

/** Starts a scripted model that ends with the test. */
export async function start(script: readonly ModelReply[], options: LocalModelOptions = {}) {
  const server = await startLocalModel({ script, ...options });
  onTestFinished(() => server.stop());
  return server;
}

/** Two looks at once, a call that pauses, and an answer. */
export const rounds = [
  { text: 'Let me look.', calls: [call('c1', 'look', { key: 'a' }), call('c2', 'look', { key: 'b' })] },
  calls(transferCall('c3', 5)),
  says('Done.'),
];

/** Looks twice, pauses, is kept as JSON, resumes after the approval, and answers. */
export async function wholeThread(model: ReturnType<typeof openAIModel>): Promise<readonly Message[]> {
  const { ran, tools, transfer } = buildTools();
  const paused = await generate({ model, tools, system: 'Help.', prompt: 'Go' });
  expect(paused.finishReason).toBe('interrupted');
  const messages = stored(paused.messages);
  const restart = [transfer.restart(waiting(stored(paused), 'c3'))];
  const done = await generate({ model, tools, messages, resume: { restart } });
  expect(done).toMatchObject({ finishReason: 'stop', text: 'Done.' });
  expect(ran).toEqual(['look a', 'look b', 'transfer 5']);
  expect(keptResults(done.messages)).toMatchObject({ c3: { moved: 5 } });
  return done.messages;
}

/** Asks a scripted model once, and returns its error if it failed. */
export async function generateWith(options: Partial<OpenAIModelOptions>, ...script: ModelReply[]) {
  const { server } = await scripted(...script);
  const startedAt = Date.now();
  const response = await generate({ model: clientOf(server, options), prompt: 'Go' });
  const error = response.finishReason === 'model-error' ? response.error : undefined;
  return { server, response, error, startedAt };
}
