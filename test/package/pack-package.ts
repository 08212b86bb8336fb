import { execFile } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildPackage } from '../../scripts/build.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Lays what `npm publish` would send into a folder, packs it there, and returns the path of the tarball. */
export async function packPackage(folder: string): Promise<string> {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
  for (const name of [...files, 'package.json'].filter((file) => file !== 'dist'))
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  await buildPackage(join(folder, 'dist'));
  const packed = await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--json'], { cwd: folder });
  const [made] = JSON.parse(packed.stdout) as { filename: string }[];
  return join(folder, made?.filename ?? '');
}
