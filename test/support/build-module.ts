import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { inject } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULE = /(?<=\bmodule: )\.\/[\w./-]+\.ts\b/g;

const built = new Map<string, Promise<string>>();

/**
 * Compiles the TypeScript tools that a manifest names, each once in a process, and names what came of it in their place.
 * A bot that compiles three tools by itself spends nine tenths of its start on them.
 */
export async function withBuiltTools(manifest: string, folder = ROOT): Promise<string> {
  const sources = [...new Set(manifest.match(MODULE))];
  const files = new Map(
    await Promise.all(
      sources.map(async (source) => [source, await buildModule(resolve(folder, source))] as const),
    ),
  );
  return manifest.replaceAll(MODULE, (source) => files.get(source) ?? source);
}

/** Compiles a TypeScript file and what it imports of ours into one JavaScript file, once in a process, and gives its path. */
export function buildModule(source: string): Promise<string> {
  const file = resolve(ROOT, source);
  const known = built.get(file);
  if (known !== undefined) return known;
  const building = bundle(file);
  built.set(file, building);
  return building;
}

async function bundle(file: string): Promise<string> {
  const name = file.slice(ROOT.length, -'.ts'.length).replaceAll('/', '-');
  const outfile = join(inject('buildFolder'), String(process.pid), `${name}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [file],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  return outfile;
}
