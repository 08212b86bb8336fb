import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MISTAKES } from './mistakes.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const LONGEST_COMPILE_MS = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'countersign-types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options = {
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  rewriteRelativeImportExtensions: true,
  skipLibCheck: true,
};

/** Compiles files, and returns the first line of the first error of each file that has one. */
function compile(name: string, files: readonly string[], more: object): Map<string, string> {
  const project = join(folder, name);
  writeFileSync(project, JSON.stringify({ compilerOptions: { ...options, ...more }, files }));
  const { stdout } = spawnSync(process.execPath, [TSC, '-p', project, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const errors = new Map<string, string>();
  for (const [, file = '', message = ''] of stdout.matchAll(/^(\S+?)\(\d+,\d+\): error TS\d+: (.*)$/gm))
    if (!errors.has(file)) errors.set(file, message);
  return errors;
}

/** Installs the types of the library as an author has them: a package with declarations, and no source. */
beforeAll(() => {
  const library = join(folder, 'node_modules/countersign');
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const dependency of ['zod', '@types/node'])
    symlinkSync(join(ROOT, 'node_modules', dependency), join(folder, 'node_modules', dependency));
  const project = join(folder, 'library.json');
  const written = {
    rootDir: join(ROOT, 'src'),
    outDir: join(library, 'types'),
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  writeFileSync(
    project,
    JSON.stringify({
      compilerOptions: { ...options, ...written, declaration: true, emitDeclarationOnly: true },
      files: [join(ROOT, 'src/index.ts')],
    }),
  );
  execFileSync(process.execPath, [TSC, '-p', project]);
  const exports = { '.': { types: './types/index.d.ts' } };
  writeFileSync(
    join(library, 'package.json'),
    JSON.stringify({ name: 'countersign', type: 'module', exports }),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  copyFileSync(fileURLToPath(new URL('tools.ts', import.meta.url)), join(folder, 'tools.ts'));
}, LONGEST_COMPILE_MS);

test(
  'a package that exports tools can be compiled with declarations',
  () => {
    const errors = compile('tools.json', ['tools.ts'], { declaration: true, outDir: 'out' });
    expect([...errors]).toEqual([]);
    expect(readFileSync(join(folder, 'out/tools.d.ts'), 'utf8')).toContain(
      'import("countersign").ActionTool<"transferMoney"',
    );
  },
  LONGEST_COMPILE_MS,
);

const FRAME = `
import {
  approve, type BotToolContext, closeInterrupt, defineInterrupt, defineTool, generate, type Interrupt, type Model, openAIModel, reject,
  scriptedModel, settle, type ToolHelpers,
} from 'countersign';
import { z } from 'zod';
import { model, paused, pickRoom, tools, transferMoney } from './tools.ts';
declare const roomPause: Interrupt<'pickRoom', { choices: string[] }>;
declare const transferPause: Interrupt<'transferMoney', { toAccountId: string; amount: number }>;
`;

describe('the compiler tells the author of', () => {
  let said = new Map<string, string>();
  const fileOf = (code: string) => `mistake-${MISTAKES.findIndex(([each]) => each === code)}.ts`;

  beforeAll(() => {
    const files = MISTAKES.map(([code]) => fileOf(code));
    for (const [code] of MISTAKES) writeFileSync(join(folder, fileOf(code)), `${FRAME}${code}\n`);
    said = compile('mistakes.json', files, { noEmit: true });
  }, LONGEST_COMPILE_MS);

  test('nothing in the code around the mistakes', () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MISTAKES.map(([code]) => code)).size).toBe(MISTAKES.length);
    expect(said.get('tools.ts')).toBeUndefined();
  });

  test.each(MISTAKES)('%s', (code, message) => {
    expect(said.get(fileOf(code))).toBe(message);
  });
});
