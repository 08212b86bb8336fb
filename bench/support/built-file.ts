import { execFileSync } from 'node:child_process';
import { cpSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const BUILT = 'node_modules/.cache/countersign-bench';
let isBuilt = false;

/**
 * Compiles the bot and the processes of the bench, once, and returns the file that a source became. Production runs compiled
 * code, and a loader of TypeScript would add its own time to every function that the bot creates.
 */
export function builtFile(source: string): string {
  if (!isBuilt) {
    execFileSync(at('node_modules/.bin/tsc'), ['-p', at('bench/tsconfig.json')], { stdio: 'inherit' });
    cpSync(at('src'), at(`${BUILT}/src`), {
      recursive: true,
      filter: (path) => path.endsWith('.lua') || statSync(path).isDirectory(),
    });
    isBuilt = true;
  }
  return at(`${BUILT}/${source.replace(/\.ts$/, '.js')}`);
}
