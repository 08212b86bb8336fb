import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds the first executable file of that name on the PATH of the given environment, never on the process's own. */
export function findExecutable(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutableFile);
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
