import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { KEYS } from './calling.ts';

/** The command line. */
export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

/** A process of the command line, with what it has written so far. */
export interface Shell {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly error: () => string;
  /** Resolves with its exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Waits until it has said something on stderr. */
  says(words: RegExp): Promise<void>;
}

/** A bot by its port. */
export interface Reachable {
  bot(): { readonly port: number };
}

/** Makes a folder that ends with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-shell-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `countersign` in a process of its own, as a caller of the story's bot. */
export function countersign(
  door: Reachable,
  args: readonly string[],
  { cwd, environment = {}, input }: { cwd: string; environment?: Record<string, string>; input?: string },
): Shell {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), CLI, ...args], {
    cwd,
    env: {
      ...{ PATH, HOME },
      COUNTERSIGN_URL: `http://127.0.0.1:${door.bot().port}`,
      COUNTERSIGN_KEY: KEYS.pipeline,
      ...environment,
    },
  });
  let out = '';
  let error = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    error += chunk.toString();
  });
  child.stdin.end(input ?? '');
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    child,
    ended,
    out: () => out,
    error: () => error,
    says: (words) => expect.poll(() => error, { timeout: 60_000 }).toMatch(words),
  };
}

/** Reads a file, or nothing if there is none. */
export function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
