import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const modules = join(folder, 'node_modules');
const inspector = join(folder, 'inspector');
const INSPECTOR_PACKAGE = '@modelcontextprotocol/inspector@2.12.0';

/** The command of the suite. */
export const SUITE = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
/** The command of the inspector. */
export const INSPECTOR = join(
  inspector,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/** Installs the suite at the first use: it is large and needs a newer Node, so it is no part of the project's own installation. */
export function installSuite(): void {
  if (!existsSync(modules))
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
}

/** Installs the inspector likewise, without a lock: npm cannot write one for it on Node 20. */
export function installInspector(): void {
  installSuite();
  if (existsSync(INSPECTOR)) return;
  const args = ['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--prefix', inspector];
  execFileSync('npm', [...args, INSPECTOR_PACKAGE], { stdio: 'inherit' });
}

/** Returns a Node that they run on: this one, or else the one from npm. */
export function nodeForSuite(): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  return join(modules, `node-${process.platform}-${process.arch}/bin/node`);
}
