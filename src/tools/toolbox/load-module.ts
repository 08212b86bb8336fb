import { createHash, randomUUID } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../agent/tool.ts';
import { libraryBytes } from './library-bytes.ts';

/** Loads the tools that a TypeScript or JavaScript module exports; a module that has none is an error that says so. */
export type LoadModule = (specifier: string) => Promise<readonly Tool[]>;

/**
 * Loads modules from a folder; all that one loader loads share what they import: a connection that two tools use is opened once. A loader
 * that reads `anew` gets these files and what imports them as they are now, whatever was loaded before.
 */
export function createModuleLoader(folder: string, anew?: Iterable<string>): LoadModule {
  let typeScript: Promise<Import> | undefined;
  if (anew !== undefined) forget(new Set(anew));
  return async (specifier) => {
    const isPath = isOwnFile(specifier);
    const file = isPath ? resolve(folder, specifier) : specifier;
    if (isPath && !existsSync(file)) throw new Error(`there is no file ${specifier}`);
    let loaded: Loaded;
    if (isPath && anew === undefined && /\.m?js$/.test(file)) loaded = await importJavaScript(file);
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

/** Tells whether a module is a file of the admin's, not a package. */
function isOwnFile(specifier: string): boolean {
  return /^[./]/.test(specifier);
}

/** Removes files from the cache of CommonJS, which knows no versions of a file. */
function forget(files: ReadonlySet<string>): void {
  const { cache } = createRequire(import.meta.url);
  const real = new Set([...files].map((file) => (existsSync(file) ? realpathSync(file) : file)));
  for (const key of Object.keys(cache)) {
    const [file = ''] = key.split('?');
    if (files.has(file) || real.has(file)) delete cache[key];
  }
}

type Loaded = Readonly<Record<string, unknown>>;
type Import = (specifier: string) => Promise<Loaded>;

/** Imports a file without a compiler; a changed file is another module, with the imports that it had. */
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

/** The files of a module and their digest; there is none if there is neither a file nor a lock file. */
export interface ModuleFiles {
  readonly paths: readonly string[];
  readonly digest: string | undefined;
}

/**
 * Reads what a module runs: its file, the files that it imports from the admin's folder, however deep, and the lock file of
 * its libraries, without what Countersign alone needs. A file counts as imported if a literal of the code names it, so that no form of import
 * is missed; a name that is only computed is not found.
 */
export async function readModuleFiles(folder: string, specifier: string): Promise<ModuleFiles> {
  const files = new Map<string, Buffer>();
  if (isOwnFile(specifier)) await collect(resolve(folder, specifier), files);
  const lock = await findLock(folder);
  if (lock !== undefined) files.set(lock.path, libraryBytes(lock.bytes, [...files.values()]));
  if (files.size === 0) return { paths: [], digest: undefined };
  const digest = createHash('sha256');
  for (const bytes of files.values()) digest.update(`${bytes.length}\n`).update(bytes);
  return { paths: [...files.keys()], digest: digest.digest('hex') };
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
async function findLock(
  folder: string,
): Promise<{ readonly path: string; readonly bytes: Buffer } | undefined> {
  for (let place = resolve(folder); ; place = dirname(place)) {
    for (const name of LOCK_FILES) {
      const path = join(place, name);
      const bytes = await readFile(path).catch(() => undefined);
      if (bytes !== undefined) return { path, bytes };
    }
    const isRoot = await stat(join(place, 'package.json')).then(
      () => true,
      () => place === dirname(place),
    );
    if (isRoot) return undefined;
  }
}
