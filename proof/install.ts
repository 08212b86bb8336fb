import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Installs the suites that are packages. They are large and few need them, so they are no part of the project's own installation. */
export function installSuites(): void {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  // npm writes this file last.
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return;
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
}
