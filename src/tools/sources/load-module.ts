import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../agent/tool.ts';

/** Loads the tools that a TypeScript or JavaScript module exports; a module that has none is an error that says so. */
export async function loadModule(specifier: string, folder: string): Promise<readonly Tool[]> {
  const isPath = /^[./]/.test(specifier);
  const file = isPath ? resolve(folder, specifier) : specifier;
  if (isPath && !existsSync(file)) throw new Error(`there is no file ${specifier}`);
  const loaded =
    isPath && /\.m?js$/.test(file) ? await importJavaScript(file) : await importAny(file, isPath, folder);
  const tools = Object.values(loaded).filter(isTool);
  if (tools.length === 0)
    throw new Error(`${specifier} exports no tool; make one with defineTool or defineInterrupt`);
  return tools;
}

type Loaded = Readonly<Record<string, unknown>>;

/** Needs no compiler; a file that was changed is another module. */
async function importJavaScript(file: string): Promise<Loaded> {
  return await import(`${pathToFileURL(file).href}?changed=${statSync(file).mtimeMs}`);
}

async function importAny(file: string, isPath: boolean, folder: string): Promise<Loaded> {
  // Loaded here, since it costs a bot without TypeScript tools a third of its start.
  const { tsImport } = await import('tsx/esm/api');
  return await tsImport(isPath ? pathToFileURL(file).href : file, pathToFileURL(`${folder}/`).href);
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false;
  return 'kind' in value && 'name' in value && 'inputSchema' in value && 'matches' in value;
}
