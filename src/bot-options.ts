import type { Model } from './agent/model.ts';
import type { ToolSet } from './agent/tool.ts';

/** The parts of a bot that a program gives. */
export interface BotOptions {
  /** The path of the manifest (default: `MANIFEST` of the environment, else `manifest.yml`). */
  readonly manifest?: string | undefined;
  /** Tools beside those of the manifest. One that the manifest does not name needs approval by the policy "default". */
  readonly tools?: ToolSet | undefined;
  /** The version of the code of these tools, such as a commit. A request that was approved for another version is asked again. */
  readonly version?: string | undefined;
  /** Answers in place of the manifest's models, whose names, fallbacks and parameters do not apply then; its budgets do. */
  readonly model?: Model | undefined;
  /** The settings by name (default: the environment of the process and `.env`). */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Starts without the tools of the manifest whose file or command is missing, and tells the admins. */
  readonly allowMissingTools?: boolean | undefined;
}

/** A bot cannot start. Each problem says where it is and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], { hint, cause }: { hint?: string; cause?: unknown } = {}) {
    const lines = problems.map((problem) => `  ${problem}`);
    super(
      ['countersign cannot start:', ...lines, ...(hint === undefined ? [] : [hint])].join('\n'),
      cause === undefined ? {} : { cause },
    );
    this.problems = problems;
  }
}
