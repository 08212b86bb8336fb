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
  /** Starts a CPU profile of the process. */
  startProfile(): Promise<void>;
  /** Ends the CPU profile. */
  stopProfile(): Promise<CpuProfile>;
  /** Collects garbage, and returns what the process holds and has loaded. */
  holdings(): Promise<Holdings>;
  kill(): Promise<void>;
}

const HeapReport = z.object({ heapBytes: z.number() });
const CallFrame = z.object({
  functionName: z.string(),
  url: z.string(),
  lineNumber: z.number(),
  columnNumber: z.number(),
});
export type CallFrame = z.infer<typeof CallFrame>;
const CpuProfile = z.object({
  nodes: z.array(
    z.object({ id: z.number(), callFrame: CallFrame, children: z.array(z.number()).optional() }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
export type CpuProfile = z.infer<typeof CpuProfile>;
const Holdings = z.object({
  /** The statistics of V8's heap, in bytes. */
  heap: z.record(z.string(), z.number()),
  /** Bytes outside of the heap that belong to objects in it. */
  external: z.number(),
  /** The addresses of all scripts that were loaded. */
  scripts: z.array(z.string()),
});
export type Holdings = z.infer<typeof Holdings>;

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
  const ask = async (question: string): Promise<unknown> => {
    const report = nextMessage(child);
    child.send(question);
    return await Promise.race([report, failed]);
  };
  return {
    pid,
    failed,
    heapBytes: async () => HeapReport.parse(await ask('heap')).heapBytes,
    startProfile: async () => void (await ask('start profile')),
    stopProfile: async () => CpuProfile.parse(await ask('stop profile')),
    holdings: async () => Holdings.parse(await ask('holdings')),
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
