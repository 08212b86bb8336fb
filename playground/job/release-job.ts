import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { JobProcess } from '../protocol.ts';

/** The caller of the manifest that the job is, and the variable with its key. */
export const JOB = { caller: 'release-job', key: 'RELEASE_JOB_KEY' } as const;

const SCRIPT = `echo "Uploading checkout 2.4.1"
sleep 1
echo "Switching production to checkout 2.4.1"
sleep 1
echo "checkout 2.4.1 is live"
`;
const ARGUMENTS = [
  ...['ask', '--policy', 'release', '--title', 'Release checkout 2.4.1'],
  ...['--file', 'release.sh', '--', 'sh', 'release.sh'],
];
const COMMAND_LINE =
  "countersign ask --policy release --title 'Release checkout 2.4.1' --file release.sh -- sh release.sh";
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const MAX_OUTPUT = 8_000;
/** The exit code of a shell for a command that Ctrl-C ended. */
const INTERRUPTED = 130;

export interface JobOptions {
  /** The address of the bot. */
  readonly url: string;
  readonly key: string;
  /** The folder that the job works in. */
  readonly folder: string;
  readonly onChange: () => void;
}

/** A CI job that asks before it releases: the real command line in a process of its own. */
export interface ReleaseJob {
  state(): JobProcess;
  /** Starts it, unless it runs. */
  start(): void;
  /** Presses Ctrl-C. */
  interrupt(): void;
  /** Ends it with no warning. */
  stop(): Promise<void>;
}

export function openReleaseJob({ url, key, folder, onChange }: JobOptions): ReleaseJob {
  let child: ChildProcess | undefined;
  let ended = Promise.resolve();
  let runs = 0;
  let job: JobProcess = { state: 'idle', commandLine: COMMAND_LINE, output: '' };
  const change = (next: Partial<JobProcess>): void => {
    job = { ...job, ...next };
    onChange();
  };
  const start = (): void => {
    if (child !== undefined) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'release.sh'), SCRIPT);
    runs += 1;
    const { PATH = '', HOME = '' } = process.env;
    const run = { GITHUB_REPOSITORY: 'acme/checkout', GITHUB_JOB: 'release', GITHUB_RUN_ID: String(runs) };
    const started = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), CLI, ...ARGUMENTS], {
      cwd: folder,
      env: { PATH, HOME, ...run, COUNTERSIGN_URL: url, COUNTERSIGN_KEY: key },
      // Its own group, so that one signal ends its command as well.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    job = { state: 'running', commandLine: COMMAND_LINE, output: '' };
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        change({ output: (job.output + stripVTControlCharacters(text)).slice(-MAX_OUTPUT) });
      });
    ended = new Promise((resolve) => {
      const end = (exitCode: number): void => {
        if (child !== started) return;
        child = undefined;
        change({ state: 'ended', exitCode });
        resolve();
      };
      started.once('error', ({ message }) => {
        change({ output: `${job.output}${message}\n` });
        end(1);
      });
      started.once('close', (code) => end(code ?? INTERRUPTED));
    });
    onChange();
  };
  return {
    state: () => job,
    start,
    interrupt: () => void child?.kill('SIGINT'),
    async stop() {
      const { pid } = child ?? {};
      if (pid === undefined) return;
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
      await ended;
    },
  };
}
