import { createHash, randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../agent/tool.ts';

/** Loads the tools that a TypeScript or JavaScript module exports; a module that has none is an error that says so. */
export type LoadModule = (specifier: string) => Promise<readonly Tool[]>;

/**
 * Loads modules from a folder. Every loader reads changed files anew, and all TypeScript modules of one loader share what they
 * import: a connection that two tools use is opened once.
 */
export function createModuleLoader(folder: string): LoadModule {
  let typeScript: Promise<Import> | undefined;
  return async (specifier) => {
    const isPath = /^[./]/.test(specifier);
    const file = isPath ? resolve(folder, specifier) : specifier;
    if (isPath && !existsSync(file)) throw new Error(`there is no file ${specifier}`);
    let loaded: Loaded;
    if (isPath && /\.m?js$/.test(file)) loaded = await importJavaScript(file);
    else {
      typeScript ??= registerTypeScript(folder);
      loaded = await (await typeScript)(isPath ? pathToFileURL(file).href : file);
    }
    const tools = Object.values(loaded).filter(isTool);
    if (tools.length === 0)
      throw new Error(`${specifier} exports no tool; make one with defineTool or defineInterrupt`);
    return tools;
  };
}

type Loaded = Readonly<Record<string, unknown>>;
type Import = (specifier: string) => Promise<Loaded>;

/** Imports a file without a compiler; a changed file is another module. */
async function importJavaScript(file: string): Promise<Loaded> {
  return await import(`${pathToFileURL(file).href}?changed=${statSync(file).mtimeMs}`);
}

/** Loads tsx only when it is needed: it takes a third of the start of a bot without TypeScript tools. */
async function registerTypeScript(folder: string): Promise<Import> {
  const [esm, cjs] = await Promise.all([import('tsx/esm/api'), import('tsx/cjs/api')]);
  const namespace = randomUUID();
  cjs.register({ namespace });
  const scope = esm.register({ namespace });
  return (specifier) => scope.import(specifier, pathToFileURL(`${folder}/`).href);
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false;
  return 'kind' in value && 'name' in value && 'inputSchema' in value && 'matches' in value;
}

const CODE = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx'];
const LOCK_FILES = ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'];

/** A literal that names a file beside the module: of an import, an export, a `require`, or any other. */
const RELATIVE = /(from|import|require)?[\s(]*(['"`])(\.{1,2}\/[^'"`\n]+)\2/g;

/**
 * Returns the digest of what a module runs: its file, the files that it imports from the admin's folder, however deep, and the lock file of
 * its libraries. A file counts as imported if a literal of the code names it, so that no form of import is missed; a name that is only
 * computed is not found. `undefined` if there is neither a file nor a lock file.
 */
export async function moduleDigest(folder: string, specifier: string): Promise<string | undefined> {
  const isPath = /^[./]/.test(specifier);
  const files = new Map<string, Buffer>();
  if (isPath) await collect(resolve(folder, specifier), files);
  const lock = await findLock(folder);
  if (files.size === 0 && lock === undefined) return undefined;
  const digest = createHash('sha256');
  for (const bytes of [...files.values(), ...(lock === undefined ? [] : [lock])]) {
    digest.update(`${bytes.length}\n`).update(bytes);
  }
  return digest.digest('hex');
}

async function collect(file: string, files: Map<string, Buffer>): Promise<void> {
  if (files.has(file)) return;
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) return;
  files.set(file, bytes);
  if (!CODE.includes(extname(file))) return;
  // One after the other: the order is part of the digest.
  for (const [, keyword, , name = ''] of bytes.toString('utf8').matchAll(RELATIVE)) {
    const imported = await findFile(resolve(dirname(file), name), keyword !== undefined);
    if (imported !== undefined) await collect(imported, files);
  }
}

/** Finds the file that an import names, with or without its ending; a file that is no code only where an import names it. */
async function findFile(path: string, isImport: boolean): Promise<string | undefined> {
  const stem = path.slice(0, path.length - extname(path).length);
  const candidates = [
    path,
    ...CODE.filter(() => CODE.includes(extname(path))).map((ending) => `${stem}${ending}`),
    ...CODE.map((ending) => `${path}${ending}`),
    ...CODE.map((ending) => join(path, `index${ending}`)),
  ];
  for (const candidate of candidates) {
    if (!isImport && !CODE.includes(extname(candidate))) continue;
    const found = await stat(candidate).catch(() => undefined);
    if (found?.isFile() === true) return candidate;
  }
  return undefined;
}

/** Reads the lock file of the package that a folder belongs to. */
async function findLock(folder: string): Promise<Buffer | undefined> {
  for (let place = resolve(folder); ; place = dirname(place)) {
    for (const name of LOCK_FILES) {
      const bytes = await readFile(join(place, name)).catch(() => undefined);
      if (bytes !== undefined) return bytes;
    }
    const isRoot = await stat(join(place, 'package.json')).then(
      () => true,
      () => place === dirname(place),
    );
    if (isRoot) return undefined;
  }
}
