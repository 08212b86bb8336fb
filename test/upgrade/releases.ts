import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packPackage } from '../package/pack-package.ts';

/** An installed package, by the folder of its modules. */
export interface Release {
  readonly name: string;
  readonly modules: string;
}

export interface Releases {
  readonly older: Release;
  readonly newer: Release;
}

/**
 * Installs two releases in a folder. The older one is the package of this tree, or the one that `COUNTERSIGN_OLDER` names; the newer one is
 * the package of this tree with what a next release may bring: every script has another text, and a policy has one more field.
 */
export async function installReleases(folder: string): Promise<Releases> {
  const packed = await packPackage(join(folder, 'packed'));
  const older = await install('older', join(folder, 'older'), process.env.COUNTERSIGN_OLDER ?? packed);
  const newer = await install('newer', join(folder, 'newer'), packed);
  makeNext(newer.modules);
  return { older, newer };
}

async function install(name: string, folder: string, tarball: string): Promise<Release> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const flags = ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball];
  await promisify(execFile)('npm', flags, { cwd: folder });
  return { name, modules: join(folder, 'node_modules/countersign/dist/bin') };
}

/** Makes the next release of a package. */
function makeNext(modules: string): void {
  const scripts = join(modules, 'store/lua');
  const lua = readdirSync(scripts, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  );
  for (const file of lua) appendFileSync(join(scripts, file), '\n-- of the next release\n');
  replace(
    join(modules, 'tools/manifest/to-manifest.js'),
    /resolvers: written\.resolvers/,
    "mood: 'calm', $&",
  );
  replace(
    join(modules, 'tools/toolbox/covered-fields.js'),
    /resolvers: true/,
    "mood: { unless: 'calm' }, $&",
  );
}

function replace(file: string, found: RegExp, instead: string): void {
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(found, instead);
  if (changed === text) throw new Error(`${file} has no ${found}`);
  writeFileSync(file, changed);
}
