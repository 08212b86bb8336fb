import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const BUILT = 'node_modules/.cache/countersign-bench';

/**
 * Compiles the workers of the bench as the bot is compiled for production, and gives the file to run: what runs sources as they
 * are adds to every function that is made, which would be in our time and hardly in the floor's.
 */
export function buildWorker(): string {
  execFileSync(at('node_modules/.bin/tsc'), ['-p', at('bench/tsconfig.json')], { stdio: 'inherit' });
  cpSync(at('src/store/lua'), at(`${BUILT}/src/store/lua`), { recursive: true });
  return at(`${BUILT}/bench/turn/worker-process.js`);
}
