import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CACHE = join(ROOT, 'node_modules');

/**
 * Puts the worker into one file, dependencies and all: hundreds of workers are started in a run, and reading a
 * thousand small files would be most of what they do. The code is the one under src, unchanged.
 */
export async function buildWorker(): Promise<string> {
  // Inside node_modules, so that what stays outside of the bundle is found from there.
  const folder = mkdtempSync(join(CACHE, '.countersign-faults-'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: { worker: 'test/faults/worker/worker.ts' },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['tsx'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
  });
  cpSync(join(ROOT, 'test/faults/worker/handed-tools.mjs'), join(folder, 'tools.mjs'));
  cpSync(join(ROOT, 'src/store/lua'), join(folder, 'lua'), { recursive: true });
  return folder;
}
