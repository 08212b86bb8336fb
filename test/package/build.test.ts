import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceBuild } from '../../scripts/build.ts';
import { packageSource } from '../../src/commands/init/write-files.ts';
import { newFolder } from '../commands/support.ts';

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

test('a new build takes the place of the old one, whose files stay a day for a bot that runs from them', () => {
  const folder = newFolder();
  const [made, dist] = [join(folder, 'new'), join(folder, 'dist')];
  write(dist, { 'bin/cli.js': 'old', 'bin/chunk-1.js': 'old', 'bin/chunk-0.js': 'older' });
  const longAgo = Date.now() / 1_000 - 2 * 86_400;
  utimesSync(join(dist, 'bin/chunk-0.js'), longAgo, longAgo);
  write(made, { 'bin/cli.js': 'new', 'bin/chunk-2.js': 'new', 'lua/a.lua': 'new' });
  replaceBuild(made, dist);
  const read = (name: string) =>
    existsSync(join(dist, name)) ? readFileSync(join(dist, name), 'utf8') : undefined;
  expect(['bin/cli.js', 'bin/chunk-2.js', 'lua/a.lua', 'bin/chunk-1.js', 'bin/chunk-0.js'].map(read)).toEqual(
    [...['new', 'new', 'new', 'old'], undefined],
  );
  expect(existsSync(made)).toBe(false);
});

test('a new bot depends on the package that init came from: a clone, a tarball, or a version of a registry', async () => {
  const root = newFolder();
  const bot = join(root, 'bot');
  const own = join(root, 'tools/node_modules/countersign');
  expect(await packageSource(bot, '0.1.0', join(root, 'clone'))).toBe('file:../clone');
  expect(await packageSource(bot, '0.1.0', own)).toBe('^0.1.0');
  const lock = (resolved: string) =>
    write(root, {
      'tools/node_modules/.package-lock.json': JSON.stringify({
        packages: { 'node_modules/countersign': { resolved } },
      }),
    });
  lock('file:../countersign-0.1.0.tgz');
  expect(await packageSource(bot, '0.1.0', own)).toBe('file:../countersign-0.1.0.tgz');
  lock('https://registry.example/countersign-0.1.0.tgz');
  expect(await packageSource(bot, '0.1.0', own)).toBe('^0.1.0');
});
