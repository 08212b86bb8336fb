import { pointerTo } from '../../agent/json.ts';
import type { Tool } from '../../agent/tool.ts';
import {
  checkUses,
  type KnownTool,
  knownTool,
  writtenTools,
} from '../../tools/manifest/checks/check-uses.ts';
import type { Manifest, ToolDeclaration } from '../../tools/manifest/manifest.ts';
import type { ReadableManifest } from '../../tools/manifest/parse.ts';
import type { Finding } from '../../tools/manifest/problem.ts';
import { parseLock, readLockText, type ToolLock } from '../../tools/manifest/tool-lock.ts';
import { createModuleLoader, type LoadModule } from '../../tools/toolbox/load-module.ts';
import { missingInCode } from '../../tools/toolbox/tool-source.ts';
import { firstLineOf } from './finding.ts';

/** The tools of a manifest as far as this machine knows them, and the modules that cannot be loaded. */
export interface LocalTools {
  readonly tools: ReadonlyMap<string, readonly KnownTool[]>;
  readonly findings: readonly Finding[];
}

/** The tools that a program gives to the bot, by name; a command knows of none. */
type CodeTools = ReadonlyMap<string, Tool> | undefined;

/** Loads the modules of a manifest and reads its lock file. The tools of a server that is not locked are not known, and HTTP tools are left out. */
export async function readLocalTools(
  { tools }: Manifest,
  folder: string,
  code?: CodeTools,
): Promise<LocalTools> {
  const loadModule = createModuleLoader(folder);
  const lock = parseLock(await readLockText(folder));
  const known = new Map<string, readonly KnownTool[]>();
  const findings: Finding[] = [];
  for (const declaration of tools) {
    const found = await toolsOf(declaration, { loadModule, lock, code });
    if (typeof found === 'string') {
      const pointer = `${pointerTo('/tools', declaration.name)}/${declaration.kind}`;
      const fix = fixForImport(found, folder);
      findings.push({ pointer, at: 'value', message: fix === undefined ? found : `${found}; ${fix}` });
    } else if (found !== undefined) known.set(declaration.name, found);
  }
  return { tools: known, findings };
}

/** Finds what names a tool, or an argument of one, that neither the manifest, nor its modules, nor its lock file has. */
export async function inspectUses(
  { manifest, written }: Pick<ReadableManifest, 'manifest' | 'written'>,
  folder: string,
  code?: CodeTools,
): Promise<readonly Finding[]> {
  const { tools, findings } = await readLocalTools(manifest, folder, code);
  const known = new Map([...tools, ...writtenTools(written)]);
  return [...findings, ...findClashes(manifest, known, code), ...checkUses(written, known).findings];
}

/** Finds the tools of the manifest that have the name of one of the program's. */
function findClashes(
  { tools }: Manifest,
  known: ReadonlyMap<string, readonly KnownTool[]>,
  code: CodeTools,
): Finding[] {
  return tools.flatMap(({ name: entry, kind }) =>
    (kind === 'code' ? [] : (known.get(entry) ?? []))
      .filter(({ name }) => code?.has(name) === true)
      .map(({ name }) => ({
        pointer: pointerTo('/tools', entry),
        at: 'key' as const,
        message: `the program gives the bot a tool named "${name}" as well; give one of the two another name`,
      })),
  );
}

/** Says how to install a package that an import does not find. */
export function fixForImport(message: string, folder: string): string | undefined {
  const [, missing] = /Cannot find (?:package|module) '([^']+)'/.exec(message) ?? [];
  if (missing === undefined || /^[./]/.test(missing)) return undefined;
  return `run "npm install ${missing}" in ${folder}`;
}

async function toolsOf(
  declaration: ToolDeclaration,
  { loadModule, lock, code }: { loadModule: LoadModule; lock: ToolLock | undefined; code: CodeTools },
): Promise<readonly KnownTool[] | string | undefined> {
  switch (declaration.kind) {
    case 'http':
      return undefined;
    case 'mcp':
      return lock?.toolsOf(declaration.name).map((name) => ({ name, schema: undefined }));
    case 'code': {
      const { name } = declaration;
      if (code === undefined) return [{ name, schema: undefined }];
      const tool = code.get(name);
      return tool === undefined ? missingInCode(name) : [knownTool(tool)];
    }
    case 'module':
      return loadModule(declaration.module).then(
        (loaded) => loaded.map(knownTool),
        (error: unknown) => firstLineOf(error),
      );
  }
}
