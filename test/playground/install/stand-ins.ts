import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Machine } from '../../../playground/install/machine.ts';

/** Makes a folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes an executable shell script into a folder. */
export function writeScript(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A machine of that distribution on which this user is root, unless the changes say otherwise. */
export function machineOf(folder: string, osRelease: string, changes: Partial<Machine> = {}): Machine {
  const osReleaseFile = join(folder, 'os-release');
  writeFileSync(osReleaseFile, osRelease);
  return { platform: 'linux', userId: 0, osReleaseFile, ...changes };
}

/** The message of the error that a promise must end with. */
export async function messageOf(failing: Promise<unknown>): Promise<string> {
  const outcome = await failing.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome.message;
  throw new Error('an error was expected, but there was none');
}
