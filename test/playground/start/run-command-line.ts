import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The playground started from the command line in its own process group. */
export interface CommandLine {
  /** Waits until it is ready, and gives the page's address. */
  ready(): Promise<string>;
  /** Its whole output so far. */
  output(): string;
  /** Its standard error. */
  errors(): string;
  /** The numbers of the processes that run for it now, itself included. */
  processes(): readonly number[];
  /** Sends a signal to the whole group, as the terminal does. */
  signal(signal: NodeJS.Signals): void;
  /** Waits until it has ended, and gives its exit code. */
  ended(): Promise<number | null>;
  /** Ends it if a test has not. */
  abandon(): void;
}

/** Runs `npm run playground` without this test run's settings for Redis, the model and the manifest. */
export function runCommandLine(...args: readonly string[]): CommandLine {
  const { REDIS_URL: _redis, OPENAI_API_KEY: _model, MANIFEST: _manifest, ...env } = process.env;
  const child = spawn('npm', ['run', '--silent', 'playground', '--', ...args], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (stream === child.stderr) errors += text;
    });
  const closed = once(child, 'close');
  const ready = new Promise<string>((resolve, reject) => {
    const look = () => {
      const url = /^Ready after [\d.]+ s: (\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on('data', look);
    child.once('close', () => reject(new Error(`It ended before it was ready:\n${output}`)));
  });
  // Only tests that await it see the rejection; a run that is expected to fail does not await it.
  ready.catch(() => {});
  return {
    ready: () => ready,
    output: () => output,
    errors: () => errors,
    processes: () => withDescendants(pidOf(child)),
    signal: (signal) => void process.kill(-pidOf(child), signal),
    ended: async () => {
      const [code] = await closed;
      return typeof code === 'number' ? code : null;
    },
    abandon: () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-pidOf(child), 'SIGKILL');
    },
  };
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('npm did not start');
  return pid;
}

function withDescendants(root: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = [root];
  // Grows while it is walked: each process adds its own children.
  for (const parent of found)
    for (const [pid = 0, parentOfPid] of rows) if (parentOfPid === parent) found.push(pid);
  return found;
}
