import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { builtFile } from './built-file.ts';

export interface NodeCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The flags of Node itself. */
  readonly flags?: readonly string[];
}

/** A measured process. Its CPU and resident memory are read from outside, by its pid. */
export interface NodeProcess {
  readonly pid: number;
  /** Rejects when the process ends without `kill`. */
  readonly failed: Promise<never>;
  /** Collects garbage in the process and returns the size of what is left. */
  heapBytes(): Promise<number>;
  kill(): Promise<void>;
}

const HeapReport = z.object({ heapBytes: z.number() });

/** Starts a JavaScript file with this environment and nothing else; the process never outlives the bench. */
export function startNode({ file, args, flags = [] }: NodeCommand, env: NodeJS.ProcessEnv): NodeProcess {
  const reporter = pathToFileURL(builtFile('bench/support/report-usage.ts')).href;
  const child = fork(file, [...args], {
    env,
    execArgv: [...flags, '--expose-gc', '--import', reporter],
    // Logs cost what they cost, but nobody reads them.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} did not start.`);
  const exited = once(child, 'exit');
  let isKilled = false;
  const failed = exited.then(async ([code, signal]): Promise<never> => {
    if (isKilled) return await new Promise(() => {});
    throw new Error(`${file} ended unexpectedly (${signal ?? code}).`);
  });
  // Nobody may be waiting for it at the moment.
  failed.catch(() => {});
  return {
    pid,
    failed,
    async heapBytes() {
      const report = nextMessage(child);
      child.send('heap');
      return HeapReport.parse(await Promise.race([report, failed])).heapBytes;
    },
    async kill() {
      isKilled = true;
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Resolves with the next message of a child process; rejects when it ends before. */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null, signal: string | null) =>
      reject(new Error(`A process of the bench ended (${signal ?? code}) before it answered.`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}
