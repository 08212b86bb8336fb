/** The environment and the output of a command. */
export interface CommandContext {
  readonly environment: NodeJS.ProcessEnv;
  /** Resolves when the text is flushed, so that a slow reader slows the command down. */
  readonly write: (text: string) => Promise<void>;
  readonly writeError: (text: string) => Promise<void>;
  /** The terminal of a person who can be asked; without it no command asks. */
  readonly input?: NodeJS.ReadableStream;
  /** Ends a command that would run for ever. */
  readonly signal?: AbortSignal;
  /** The prefix of all keys in Redis. */
  readonly prefix?: string;
}

/** Exit codes for scripts: success, a problem was found, wrong usage. */
export const EXIT = { ok: 0, problem: 1, usage: 2 } as const;

/** One command of the command line. */
export interface Command {
  readonly help: string;
  run(args: readonly string[], context: CommandContext): Promise<number>;
}

/** A command cannot continue; the message is one sentence for the person at the terminal. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The command line is wrong; the message says which part, and nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
