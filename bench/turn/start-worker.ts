import { type ChildProcess, fork } from 'node:child_process';
import { Done, type Order } from './order.ts';

export interface BenchWorker {
  readonly pid: number | undefined;
  carryOut(order: Order): Promise<Done>;
  stop(): void;
}

/** Starts a worker of the bench from its compiled file; it does one order at a time and ends with this process at the latest. */
export async function startWorker(file: string, execArgv: readonly string[] = []): Promise<BenchWorker> {
  const child = fork(file, { execArgv: [...execArgv] });
  await nextMessage(child);
  return {
    pid: child.pid,
    async carryOut(order) {
      child.send(order);
      return Done.parse(await nextMessage(child));
    },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null, signal: string | null) =>
      reject(new Error(`A worker of the bench ended (${signal ?? code}) before it was done.`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}
