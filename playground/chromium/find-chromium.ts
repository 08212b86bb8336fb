import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable } from '../install/find-executable.ts';
import type { Machine } from '../install/machine.ts';
import { lastLines, runCommand } from '../install/run-command.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_APPLICATIONS = [
  'Chromium.app/Contents/MacOS/Chromium',
  'Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Result of a search: a browser that runs, or the installed ones that do not. */
export type FoundChromium =
  | { kind: 'found'; path: string }
  | { kind: 'none'; broken: readonly { path: string; output: string }[] };

/** Looks for a Chromium or Chrome that runs, on the PATH of the given environment and among the applications of macOS. */
export async function findChromium(machine: Machine, env: NodeJS.ProcessEnv): Promise<FoundChromium> {
  const broken = [];
  for (const path of candidates(machine, env)) {
    const problem = await versionProblem(path, env);
    if (problem === undefined) return { kind: 'found', path };
    broken.push({ path, output: problem });
  }
  return { kind: 'none', broken };
}

/** Runs the browser just to print its version; returns what it printed instead, or nothing when it is well. */
export async function versionProblem(path: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { succeeded, output } = await runCommand(path, ['--version'], env);
  return succeeded && /\d+\.\d+\.\d+/.test(output) ? undefined : lastLines(output, 3);
}

function candidates(machine: Machine, env: NodeJS.ProcessEnv): string[] {
  const onPath = NAMES.map((name) => findExecutable(name, env)).filter((path) => path !== undefined);
  if (machine.platform !== 'darwin') return onPath;
  const folders = ['/Applications', ...(env.HOME === undefined ? [] : [join(env.HOME, 'Applications')])];
  const applications = folders.flatMap((folder) => MAC_APPLICATIONS.map((path) => join(folder, path)));
  return [...onPath, ...applications.filter((path) => existsSync(path))];
}
