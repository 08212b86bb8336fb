import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
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
