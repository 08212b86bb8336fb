import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A value that is written to a file shortly after it changes. */
export interface AutosavedFile {
  /** Schedules a write. */
  changed(): void;
  /** Resolves when all changes so far are written. */
  flush(): Promise<void>;
}

export interface AutosaveOptions {
  readonly file: string;
  /** Returns the value to write, at the time of writing. */
  readonly snapshot: () => unknown;
  /** Called when a write fails; the next change is written again. */
  readonly onProblem: (error: unknown) => void;
  readonly delayMs?: number;
}

const DELAY_MS = 200;

/** Keeps a file in sync with a changing value, one write at a time; the file is complete at every moment. */
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
