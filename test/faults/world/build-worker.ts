import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
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
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: ['tsx'],
    define: { 'import.meta.url': 'bundleUrl' },
    // The scripts are read relative to src/store/redis, so the bundle takes the place of a file in such a folder.
    banner: {
      js: 'const bundleUrl = require("node:url").pathToFileURL(__dirname + "/redis/worker.cjs").href;',
    },
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
  });
  const worker = join(folder, 'worker.cjs');
  const code = readFileSync(worker, 'utf8').replaceAll(/(?<![\w.$])import\(/g, 'importHere(');
  writeFileSync(worker, inAscii(code));
  cpSync(join(ROOT, 'test/faults/worker/launch.cjs'), join(folder, 'launch.cjs'));
  cpSync(join(ROOT, 'test/faults/worker/handed-tools.mjs'), join(folder, 'tools.mjs'));
  cpSync(join(ROOT, 'src/store/lua'), join(folder, 'lua'), { recursive: true });
  return folder;
}

/** Writes other characters, of which the bundler leaves those in regular expressions, as escapes, so that the file is read without decoding. */
function inAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
