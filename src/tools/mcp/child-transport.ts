import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import {
  deserializeMessage,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import { withTimeout } from '../../agent/util/abort.ts';
import type { StdioConfig } from './mcp-config.ts';

const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const GRACE_MS = 1000;
const MAX_QUOTE_LENGTH = 200;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Speaks MCP with a child process. The SDK's own transport leaves grandchildren (`npx` has one) and orphans behind
 * and passes on more of the environment than it should; here the whole process group ends with the child, and with us.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #config: StdioConfig;
  readonly #errorLines = new LastLines();
  #unread: Buffer = Buffer.alloc(0);
  #child: Child | undefined;
  #ended: Promise<void> = Promise.resolve();
  #ending: string | undefined;
  #garbage: string | undefined;

  constructor(config: StdioConfig) {
    this.#config = config;
  }

  // By `pid` and `stderr` the client library tells a local process from HTTP: one that ignores its probe speaks an older protocol.
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get stderr(): Readable | null {
    return this.#child?.stderr ?? null;
  }

  /** Describes how the process ended, once it has. */
  get ending(): string | undefined {
    return this.#ending;
  }

  /** The first line on standard output that was no message. */
  get garbage(): string | undefined {
    return this.#garbage;
  }

  get errorLines(): readonly string[] {
    return this.#errorLines.read();
  }

  start(): Promise<void> {
    const { command, args, cwd, env } = this.#config;
    const child = spawn(command, [...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...inherited(), ...env },
      ...(cwd !== undefined && { cwd }),
      detached: true,
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('close', () => {
        resolve();
        this.onclose?.();
      });
    });
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#errorLines.append(text));

    return new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new Error(this.#whyNotSpawned(error), { cause: error })));
      child.once('spawn', () => {
        this.#watch(child);
        resolve();
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    return new Promise((resolve, reject) => {
      if (stdin === undefined || !stdin.writable) {
        reject(new Error('the process takes no more input'));
        return;
      }
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Closes the input of the process, then sends SIGTERM, then SIGKILL; resolves when it is gone. */
  async close(): Promise<void> {
    const child = this.#child;
    const groupId = child?.pid;
    if (child === undefined || groupId === undefined) return;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const isGone = await withTimeout(
        this.#ended.then(() => true),
        GRACE_MS,
      );
      if (isGone === true) return;
      signalGroup(groupId, signal);
    }
    await this.#ended;
  }

  #watch(child: Child): void {
    const groupId = child.pid;
    if (groupId === undefined) return;
    const cancel = endGroupWithUs(groupId, (error) => this.onerror?.(error));
    child.once('exit', (code, signal) => {
      this.#ending = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      signalGroup(groupId, 'SIGKILL');
      cancel();
      // A grandchild in its own group may hold the pipes open; its output does not matter any more.
      const release = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, GRACE_MS);
      child.once('close', () => clearTimeout(release));
    });
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    let start = 0;
    for (let end = this.#unread.indexOf('\n'); end !== -1; end = this.#unread.indexOf('\n', start)) {
      this.#receive(this.#unread.toString('utf8', start, end));
      start = end + 1;
    }
    this.#unread = this.#unread.subarray(start);
    if (this.#unread.length <= MAX_MESSAGE_BYTES) return;
    this.#unread = Buffer.alloc(0);
    this.onerror?.(new Error(`a message is longer than ${MAX_MESSAGE_BYTES} bytes`));
    if (this.#child?.pid !== undefined) signalGroup(this.#child.pid, 'SIGKILL');
  }

  #receive(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      // Banners on standard output are a common mistake and no reason to stop a server.
      this.#garbage ??= stripVTControlCharacters(line).slice(0, MAX_QUOTE_LENGTH);
      return;
    }
    this.onmessage?.(message);
  }

  #whyNotSpawned(error: Error): string {
    const { command, cwd } = this.#config;
    // Node blames the command for a missing folder.
    if (cwd !== undefined && !existsSync(cwd)) return `its folder "${cwd}" does not exist`;
    const code = 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return `the command "${command}" was not found; install it or give its full path`;
    if (code === 'EACCES') return `the command "${command}" may not be executed`;
    return error.message;
  }
}

function inherited(): Record<string, string> {
  const { PATH, HOME } = process.env;
  return { ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }) };
}

// The shell reads from a pipe that only this process holds open, so it also wakes when this process is killed.
const SCRIPT =
  'read -r _; kill -s TERM -- "-$1" 2>/dev/null; sleep 2; kill -s KILL -- "-$1" 2>/dev/null; exit 0';

/** Ends a process group when this process ends, even by SIGKILL; returns a function that cancels this. */
function endGroupWithUs(groupId: number, onProblem: (error: Error) => void): () => void {
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
function signalGroup(groupId: number, signal: 'SIGTERM' | 'SIGKILL'): void {
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
class LastLines {
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

const MAX_REASON_LENGTH = 500;
const Answer = z.object({ text: z.string().min(1) });

/** Describes why a server did not start, with what its process printed. */
export function startProblem(error: unknown, timeout: number, child: ChildTransport | undefined): string {
  if (isTimeout(error)) return timeoutReason(timeout, child);
  // The process may have ended before the client knew why its pipe broke.
  if (isBroken(error) && child?.ending !== undefined) return child.ending;
  return shortMessage(error);
}

/** True if the connection ended during the probe for the protocol, as it does with servers that know only `initialize`. */
export function isProbeFailure(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

/** Adds the last lines that the process wrote to stderr. */
export function withLastLines(reason: string, child: ChildTransport | undefined): string {
  const lines = child?.errorLines ?? [];
  return lines.length === 0 ? `${reason}.` : `${reason}. Its last lines on stderr:\n${lines.join('\n')}`;
}

/** Returns an error's message, or the answer of a server that refused an HTTP request. */
export function shortMessage(error: unknown): string {
  return longMessage(error).slice(0, MAX_REASON_LENGTH);
}

function longMessage(error: unknown): string {
  if (!(error instanceof SdkHttpError) || error.status === undefined) return describeError(error);
  const text = Answer.safeParse(error.data).data?.text;
  return text === undefined
    ? `it answered with HTTP ${error.status}`
    : `it answered with HTTP ${error.status}: ${text}`;
}

function timeoutReason(timeout: number, child: ChildTransport | undefined): string {
  const reason = `it gave no answer within ${timeout} ms`;
  const garbage = child?.garbage;
  return garbage === undefined ? reason : `${reason}; its output is not MCP but "${garbage}"`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function isBroken(error: unknown): boolean {
  if (isProbeFailure(error)) return true;
  if (error instanceof SdkError) return error.code === SdkErrorCode.ConnectionClosed;
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
