import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { ModelCommand } from './instant-model-process.ts';
import { nextMessage } from './node-process.ts';

/** A model that answers at once, or after a fixed delay, in a process of its own. */
export interface InstantModel {
  readonly url: string;
  readonly pid: number | undefined;
  /** Delays every answer from now on. */
  setDelay(ms: number): Promise<void>;
  /** The text of the request that it answered last. */
  lastBody(): Promise<string>;
  stop(): void;
}

/** Starts an instant model; it never outlives the bench. */
export async function startInstantModel(): Promise<InstantModel> {
  const file = fileURLToPath(new URL('./instant-model-process.ts', import.meta.url));
  const child = fork(file, { execArgv: ['--import', 'tsx'] });
  const { port } = z.object({ port: z.number() }).parse(await nextMessage(child));
  const ask = async (command: ModelCommand): Promise<unknown> => {
    const answer = nextMessage(child);
    child.send(command);
    return await answer;
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    pid: child.pid,
    async setDelay(delayMs) {
      await ask({ delayMs });
    },
    lastBody: async () => z.object({ body: z.string() }).parse(await ask({})).body,
    stop: () => child.disconnect(),
  };
}
