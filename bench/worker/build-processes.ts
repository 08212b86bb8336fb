import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const BUILT = 'node_modules/.cache/countersign-bench';
let isBuilt = false;

/** Compiles the bot and what the bench runs beside it, once, as for production, and gives the file that a source became. */
export function builtFile(source: string): string {
  if (!isBuilt) {
    execFileSync(at('node_modules/.bin/tsc'), ['-p', at('bench/worker/tsconfig.json')], { stdio: 'inherit' });
    cpSync(at('src/store/lua'), at(`${BUILT}/src/store/lua`), { recursive: true });
    isBuilt = true;
  }
  return at(`${BUILT}/${source.replace(/\.ts$/, '.js')}`);
}
