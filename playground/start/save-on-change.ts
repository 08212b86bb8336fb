import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Something that is written to a file a moment after it changed. */
export interface AutosavedFile {
  /** Says that it has changed. */
  changed(): void;
  /** Resolves when what has changed so far is written. */
  flush(): Promise<void>;
}

export interface AutosaveOptions {
  readonly file: string;
  /** What is to be written, as it is at the moment of writing. */
  readonly snapshot: () => unknown;
  /** Told when a write fails; the next change is tried again. */
  readonly onProblem: (error: unknown) => void;
  readonly delayMs?: number;
}

const DELAY_MS = 200;

/** Keeps a file in step with something that changes, one write at a time; the file is whole at every moment. */
export function saveOnChange({
  file,
  snapshot,
  onProblem,
  delayMs = DELAY_MS,
}: AutosaveOptions): AutosavedFile {
  let isBehind = false;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    isBehind = false;
    try {
      await writeFile(`${file}.new`, JSON.stringify(snapshot()), { mode: 0o600 });
      await rename(`${file}.new`, file);
    } catch (error) {
      onProblem(error);
    }
  }

  async function writeSoon(): Promise<void> {
    while (isBehind) {
      // Not put off by further changes, so that a stream of them cannot keep the file behind.
      await sleep(delayMs);
      await write();
    }
    writing = undefined;
  }

  return {
    changed() {
      isBehind = true;
      writing ??= writeSoon();
    },
    async flush() {
      await writing;
    },
  };
}
