import { onTestFinished } from 'vitest';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { startLocalModel } from '../../../playground/model/start-local-model.ts';
import { openAIModel } from '../../../src/index.ts';

/** Starts a scripted model, with a look at the results that it was last told. */
export async function startModel(...script: ModelReply[]) {
  const local = await startLocalModel({ script });
  onTestFinished(() => local.stop());
  const model = openAIModel({ model: 'scripted', apiKey: 'test', baseURL: local.url, firstRetryMs: 1 });
  const lastResults = () =>
    local.requests.at(-1)?.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
  return { local, model, lastResults };
}
