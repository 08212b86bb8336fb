import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { stripVTControlCharacters } from 'node:util';

// The shell reads from a pipe that only this process holds open, so it also wakes when this process is killed.
const SCRIPT =
  'read -r _; kill -s TERM -- "-$1" 2>/dev/null; sleep 2; kill -s KILL -- "-$1" 2>/dev/null; exit 0';

/** Ends a process group when this process ends, even by SIGKILL; returns a function that cancels this. */
export function endGroupWithUs(groupId: number, onProblem: (error: Error) => void): () => void {
  const watcher = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(groupId)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    // In its own group, so that a Ctrl-C in the terminal does not end the watcher first.
    detached: true,
  });
  watcher.on('error', onProblem);
  watcher.stdin.on('error', () => {});
  watcher.unref();
  if (watcher.stdin instanceof Socket) watcher.stdin.unref();
  return () => {
    watcher.kill('SIGKILL');
  };
}

/** Sends a signal to every process of a group; a group that is gone is no error. */
export function signalGroup(groupId: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-groupId, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH';
}

const MAX_LINES = 20;
const MAX_LINE_LENGTH = 500;

/** Keeps the last lines of a stream. */
export class LastLines {
  readonly #lines: string[] = [];
  #unfinished = '';

  append(text: string): void {
    const [first = '', ...rest] = text.split('\n');
    this.#unfinished = (this.#unfinished + first).slice(0, MAX_LINE_LENGTH);
    for (const next of rest) {
      this.#keep(this.#unfinished);
      this.#unfinished = next.slice(0, MAX_LINE_LENGTH);
    }
  }

  read(): readonly string[] {
    return [...this.#lines, ...readable(this.#unfinished)].slice(-MAX_LINES);
  }

  #keep(line: string): void {
    this.#lines.push(...readable(line));
    if (this.#lines.length > MAX_LINES) this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }
}

function readable(line: string): string[] {
  const text = stripVTControlCharacters(line).trimEnd();
  return text === '' ? [] : [text];
}
