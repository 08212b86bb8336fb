import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export interface BotCommand {
  /** The file that the process runs, TypeScript or JavaScript. */
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  /** Receives the bot's output as it is written. */
  readonly log: (text: string) => void;
}

/** One process of the bot. Its process group is gone when `ended` resolves, and it never outlives this process. */
export interface RunningProcess {
  readonly pid: number | undefined;
  /** Resolves when the bot logs that it is connected; stays pending otherwise. */
  readonly connected: Promise<void>;
  readonly ended: Promise<void>;
  /** The last that it wrote. */
  lastOutput(): string;
  /** Ends it and its group with no warning. */
  kill(): Promise<void>;
  /** Stops it in order, and kills it after the grace time. */
  stop(graceMs: number): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const END_WITH_PARENT = new URL('./end-with-parent.mjs', import.meta.url).href;
const MAX_LAST_OUTPUT = 4_000;

const ConnectedLine = z.object({ msg: z.literal('connected to Slack') });

/** Runs the bot as in production, in its own process group, configured by its environment alone. */
export function runBot({ entry, env, log }: BotCommand): RunningProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', END_WITH_PARENT, entry], {
    cwd: ROOT,
    env,
    // Its own group: Ctrl-C in the terminal does not reach it, and one signal ends the whole group.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  let written = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      written = (written + text).slice(-MAX_LAST_OUTPUT);
      log(text);
    });
  }
  const connected = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (isConnectedLine(line)) resolve();
    });
  });
  const ended = endOf(child, (error) => {
    written += `${error.message}\n`;
  });
  return {
    pid: child.pid,
    connected,
    ended,
    lastOutput: () => written,
    async kill() {
      signalGroup(child, 'SIGKILL');
      await ended;
    },
    async stop(graceMs) {
      child.kill('SIGTERM');
      const late = new AbortController();
      const isLate = sleep(graceMs, true, { signal: late.signal }).catch(() => false);
      if (await Promise.race([ended.then(() => false), isLate])) signalGroup(child, 'SIGKILL');
      late.abort();
      await ended;
    },
  };
}

function endOf(child: ChildProcess, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      onError(error);
      if (child.pid === undefined) resolve();
    });
    child.once('exit', () => {
      signalGroup(child, 'SIGKILL');
      // Its last output may still be in the pipe, and a grandchild in another group could hold the pipe open forever.
      const release = setTimeout(resolve, 500);
      child.once('close', () => {
        clearTimeout(release);
        resolve();
      });
    });
  });
}

function isConnectedLine(line: string): boolean {
  try {
    return ConnectedLine.safeParse(JSON.parse(line)).success;
  } catch {
    return false;
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}
