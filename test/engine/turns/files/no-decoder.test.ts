import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkFiles } from '../../../../src/commands/checks/check-files.ts';
import { fileTexts } from '../../../../src/engine/turns/files/file-texts.ts';
import { parseManifest } from '../../../../src/tools/manifest/parse.ts';

const data = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const WITHOUT_SHARP = data(`
  import { register } from 'node:module';
  register(${JSON.stringify(
    data(`export async function resolve(name, context, next) {
      if (name !== 'sharp') return next(name, context);
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    }`),
  )});
`);

function manifestOf(files: string) {
  const text = `agent: { files: ${files} }\npolicies: { default: { approvers: [S0APPROVE1] } }\n`;
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.manifest;
}

test('without the package that reads images their reader ends with a code of its own, and the reason says what an admin can do', () => {
  const program = fileURLToPath(
    new URL('../../../../src/engine/turns/files/extract-file.ts', import.meta.url),
  );
  const { status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--import', WITHOUT_SHARP, program, 'image', '1000000000', '10'],
    { input: 'GIF89a' },
  );
  expect(status).toBe(3);
  const file = { name: 'a.gif', type: 'image/gif', size: 6, person: 'Alice' };
  expect(fileTexts.named(file, 'no-decoder')).toMatch(/until an admin installs the package sharp\]$/);
});

test('doctor says that images are not read, where they are wanted', () => {
  expect(checkFiles(manifestOf('true'), false)).toMatchObject([
    { status: 'warning', message: 'images are not read, because the package "sharp" is not installed' },
  ]);
  expect(checkFiles(manifestOf('true'), true)).toMatchObject([{ status: 'ok' }]);
  expect(checkFiles(manifestOf('false'), false)).toEqual([]);
  expect(checkFiles(manifestOf('{ types: [text] }'), false)).toEqual([]);
});
