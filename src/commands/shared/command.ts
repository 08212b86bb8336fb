/** What a command may touch of the world around it. */
export interface CommandContext {
  readonly environment: NodeJS.ProcessEnv;
  /** Resolves when the text is taken, so that a slow reader slows the command down. */
  readonly write: (text: string) => Promise<void>;
  readonly writeError: (text: string) => Promise<void>;
  /** Ends a command that would go on for ever. */
  readonly signal?: AbortSignal;
  /** What the keys in Redis begin with. */
  readonly prefix?: string;
}

/** How a command ended, for scripts: all is well, a problem was found, or the command line was not understood. */
export const EXIT = { ok: 0, problem: 1, notUnderstood: 2 } as const;

/** One command of the command line. */
export interface Command {
  readonly help: string;
  run(args: readonly string[], context: CommandContext): Promise<number>;
}
