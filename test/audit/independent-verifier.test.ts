import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startExporter } from '../../src/audit/exporter.ts';
import { fileMemory } from '../../src/audit/signer.ts';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import { DIGEST_PARTS } from '../../src/policy/digest.ts';
import { linkOf } from '../../src/store/record/chain-check.ts';
import { writeKey } from '../commands/support.ts';
import { type AuditWorld, approveRefund, openAuditWorld } from './support.ts';

const VERIFIER = fileURLToPath(new URL('./independent-verifier.mjs', import.meta.url));
const MOST_LINES = 120;

/** Runs the program that shares no code with the product, and returns what it prints. */
async function verify({ file, publicKeyFile }: AuditWorld): Promise<string> {
  const ran = promisify(execFile)(process.execPath, [VERIFIER, file, publicKeyFile]);
  return ran.then(
    ({ stdout }) => stdout.trim(),
    (error: { readonly stdout: string }) => error.stdout.trim(),
  );
}

async function exportedWorld(): Promise<AuditWorld> {
  const world = await openAuditWorld();
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 3; index += 1) await approveRefund(world.store);
    await world.exportOnce();
  }
  return world;
}

test(`the independent verifier imports nothing of the product and has at most ${MOST_LINES} lines`, () => {
  const text = readFileSync(VERIFIER, 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES);
  const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
  expect(imports).toEqual(['node:crypto', 'node:fs']);
});

test('the independent verifier computes a digest of the same parts', () => {
  const [, parts = ''] = /const PARTS =\s+`([^`]+)`/.exec(readFileSync(VERIFIER, 'utf8')) ?? [];
  expect(parts.split(/\s+/)).toEqual([...DIGEST_PARTS]);
});

test('the independent verifier finds nothing in an export that nobody touched', async () => {
  expect(await verify(await exportedWorld())).toBe('ok');
});

test('the independent verifier takes the keys before and after a rotation, and neither alone', async () => {
  const world = await exportedWorld();
  const { privatePem, publicPem } = createKeyPair();
  const former = readFileSync(world.publicKeyFile, 'utf8');
  writeFileSync(world.privateKeyFile, `${privatePem}${former}`);
  await approveRefund(world.store);
  await startExporter({
    store: world.store,
    settings: () => ({ file: world.file, http: undefined, retentionMs: undefined }),
    key: await readSigningKey({ file: world.privateKeyFile }),
    memory: fileMemory(world.stateFile),
    log: { info: () => {}, warn: () => {}, error: () => {} },
  }).stop();
  const withKeys = (name: string, pem: string) =>
    verify({ ...world, publicKeyFile: writeKey(world.folder, name, pem) });
  expect(await withKeys('both.pem', publicPem + former)).toBe('ok');
  expect(await withKeys('new.pem', publicPem)).toMatch(/checkpoint 1: wrong signature/);
  expect(await withKeys('old.pem', former)).toMatch(/checkpoint 3: wrong signature/);
});

/** Replaces the signer and computes the chain anew, as a person could who can write to the file. */
function forge(lines: string[]): string[] {
  let before = '';
  return lines.map((text) => {
    const line = JSON.parse(text.includes('"type":"row"') ? text.replaceAll('U-ann', 'U-eve') : text);
    if (line.type !== 'row') return text;
    before = linkOf(line, before);
    return JSON.stringify({ ...line, hash: before });
  });
}

test.each([
  [
    'a changed signer',
    (lines: string[]) =>
      lines.map((line) => (line.includes('"voted"') ? line.replaceAll('U-ann', 'U-eve') : line)),
    /row 2: changed/,
  ],
  ['a changed signer in a chain that was computed anew', forge, /^(row \d+: not the signed row\n?)+$/],
  [
    'a removed row',
    (lines: string[]) => lines.filter((_, index) => index !== 1),
    /row 3: the row before it is missing/,
  ],
  [
    'removed rows',
    (lines: string[]) => lines.filter((line) => !line.includes('"type":"row"')),
    /not the signed row/,
  ],
  [
    'a swapped order',
    ([first = '', second = '', third = '', ...rest]: string[]) => [first, third, second, ...rest],
    /row 3: the row before it is missing or comes later/,
  ],
])('the independent verifier finds %s', async (_name, change, found) => {
  const world = await exportedWorld();
  const lines = readFileSync(world.file, 'utf8').trimEnd().split('\n');
  writeFileSync(world.file, `${change(lines).join('\n')}\n`);
  expect(await verify(world)).toMatch(found);
});
