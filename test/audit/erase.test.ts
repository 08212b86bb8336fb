import { execFile } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { eraseInExport } from '../../src/audit/erase-export.ts';
import { run } from '../commands/support.ts';
import { type AuditWorld, approveRefund, linesOf, openAuditWorld } from './support.ts';

const VERIFIER = fileURLToPath(new URL('./independent-verifier.mjs', import.meta.url));
const ANN = 'U-ann';

async function exportedWorld(): Promise<AuditWorld> {
  const world = await openAuditWorld();
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 3; index += 1) await approveRefund(world.store);
    await world.exportOnce();
  }
  return world;
}

const erase = ({ redis }: AuditWorld, ...args: string[]) =>
  run(['erase', ANN, '--force', ...args], { REDIS_URL: redis.url }, redis.prefix);

const verify = ({ file, publicKeyFile }: AuditWorld) =>
  run(['audit', 'verify', '--file', file, '--key', publicKeyFile, '--json']);

test('an export from which a person was erased names them no more, has its length, and both verifiers accept it', async () => {
  const world = await exportedWorld();
  const { file, publicKeyFile } = world;
  const [size, before] = [statSync(file).size, linesOf(file)];
  const named = before.filter(({ type, ...line }) => type === 'row' && JSON.stringify(line).includes(ANN));
  expect(named.length).toBeGreaterThan(5);
  expect((await erase(world, '--export', file, '--dry-run')).out).toContain(`exported rows: ${named.length}`);
  expect(linesOf(file)).toEqual(before);
  const erased = named.map(({ seq }) => seq);

  expect((await erase(world, '--export', file)).out).toContain(`exported rows: ${named.length}`);
  expect(readFileSync(file, 'utf8')).not.toContain(ANN);
  expect(statSync(file).size).toBe(size);
  // The row that names them is in no export yet.
  const early = await verify(world);
  expect(JSON.parse(early.out)).toMatchObject({
    ok: false,
    problems: erased.map((seq) => ({ seq, message: `row ${seq} was erased, and no signed row names it` })),
  });
  await world.exportOnce();
  const { code, out } = await verify(world);
  expect(JSON.parse(out)).toMatchObject({ ok: true, erased: named.length });
  expect(code).toBe(0);
  const { stdout } = await promisify(execFile)(process.execPath, [VERIFIER, file, publicKeyFile]);
  expect(stdout).toBe('ok\n');

  expect(linesOf(file).some(({ event, subject }) => event === 'erased' && subject === ANN)).toBe(true);
  expect((await verify(world)).code).toBe(0);
  expect((await erase(world, '--export', file)).out).toContain('exported rows: 0');
});

test('an argument may hold the other line separators of Unicode: the export is verified and erased', async () => {
  const world = await openAuditWorld();
  const note = `first\u2028second\u2029third – ${ANN}`;
  await approveRefund(world.store, { audit: { tool: 'refund_order', arguments: { note } } });
  await approveRefund(world.store);
  await world.exportOnce();
  const { size } = statSync(world.file);
  expect(readFileSync(world.file, 'utf8')).toContain('\u2028second\u2029');
  expect(await verify(world)).toMatchObject({ code: 0, out: expect.stringContaining('"ok":true') });

  expect(await erase(world, '--export', world.file)).toMatchObject({ error: '' });
  expect(readFileSync(world.file, 'utf8')).not.toContain(ANN);
  expect(statSync(world.file).size).toBe(size);
  await world.exportOnce();
  expect(await verify(world)).toMatchObject({ code: 0, out: expect.stringContaining('"ok":true') });
});

test('a row that somebody hides as erased is found by both verifiers, with every hash as it was', async () => {
  const world = await exportedWorld();
  const { file, publicKeyFile } = world;
  expect(
    (await eraseInExport(file, (text) => text.includes('"decision":"approve"'), { only: new Set([2]) }))
      .outcome,
  ).toBe('erased');
  expect(linesOf(file)[1]).toMatchObject({ type: 'erased', seq: 2 });
  const { code, out } = await verify(world);
  expect([code, JSON.parse(out).problems]).toEqual([
    1,
    [{ seq: 2, problem: 'changed', message: 'row 2 was erased, and no signed row names it' }],
  ]);
  const independent = promisify(execFile)(process.execPath, [VERIFIER, file, publicKeyFile]);
  await expect(independent).rejects.toMatchObject({ stdout: 'row 2: erased, and no signed row names it\n' });
  // An erasure that nobody has signed names nothing.
  await world.store.note('late', 'erased', 'U-eve', { erased_rows: [[2, 2]] });
  expect((await verify(world)).code).toBe(1);
});

test.each([
  ['its hash', { hash: '0'.repeat(40) }],
  ['its seal', { sha256: '0'.repeat(64) }],
  ['its number', { seq: 99 }],
])('an erased row with %s changed is found', async (_what, change) => {
  const world = await exportedWorld();
  await erase(world, '--export', world.file);
  await world.exportOnce();
  expect((await verify(world)).code).toBe(0);
  const lines = linesOf(world.file);
  const index = lines.findLastIndex(({ type }) => type === 'erased');
  lines[index] = { ...lines[index], ...change };
  writeFileSync(world.file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect((await verify(world)).code).toBe(1);
});

test('a file without its beginning is refused before anything is removed', async () => {
  const world = await exportedWorld();
  const [, ...rest] = readFileSync(world.file, 'utf8').split('\n');
  writeFileSync(world.file, rest.join('\n'));
  const refused = await erase(world, '--export', world.file);
  expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('join rotated files') });
  expect(readFileSync(world.file, 'utf8')).toBe(rest.join('\n'));
  expect(await erase(world, '--export', '/nowhere.jsonl')).toMatchObject({ code: 1 });
});
