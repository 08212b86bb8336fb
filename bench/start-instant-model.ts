import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** A model that answers at once, in a process of its own. */
export interface InstantModel {
  readonly url: string;
  readonly pid: number | undefined;
  /** The text of the request it answered last. */
  lastBody(): Promise<string>;
  stop(): void;
}

/** Starts an instant model; it ends with this process at the latest. */
export async function startInstantModel(): Promise<InstantModel> {
  const file = fileURLToPath(new URL('./instant-model-process.ts', import.meta.url));
  const child = fork(file, { execArgv: ['--import', 'tsx'] });
  const { port } = z.object({ port: z.number() }).parse(await nextMessage(child));
  return {
    url: `http://127.0.0.1:${port}/v1`,
    pid: child.pid,
    async lastBody() {
      child.send('last body');
      return z.object({ body: z.string() }).parse(await nextMessage(child)).body;
    },
    stop: () => child.disconnect(),
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The instant model ended before it answered.'));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}
