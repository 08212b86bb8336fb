import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import type { Tool } from '../../agent/tool.ts';

/** Loads the tools that a TypeScript or JavaScript module exports; a module that has none is an error that says so. */
export async function loadModule(specifier: string, folder: string): Promise<readonly Tool[]> {
  const isPath = /^[./]/.test(specifier);
  const file = isPath ? resolve(folder, specifier) : specifier;
  if (isPath && !existsSync(file)) throw new Error(`there is no file ${specifier}`);
  const target = isPath ? pathToFileURL(file).href : specifier;
  const loaded: Record<string, unknown> = await tsImport(target, pathToFileURL(`${folder}/`).href);
  const tools = Object.values(loaded).filter(isTool);
  if (tools.length === 0)
    throw new Error(`${specifier} exports no tool; make one with defineTool or defineInterrupt`);
  return tools;
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null) return false;
  return 'kind' in value && 'name' in value && 'inputSchema' in value && 'matches' in value;
}
