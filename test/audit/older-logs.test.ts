import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ROW_VERSION } from '../../src/store/record/audit-row.ts';
import { jsonLines, newFolder, run } from '../commands/support.ts';

const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url));
const logOf = (version: number) => join(FIXTURES, `log.v${version}.jsonl`);
const keyOf = (version: number) => join(FIXTURES, `log.v${version}.pem`);
const VERSIONS = Array.from({ length: ROW_VERSION }, (_, index) => index + 1);
const Row = z.object({ v: z.number(), event: z.string(), subject: z.string() });

async function verify(file: string, version: number) {
  const { code, out } = await run(['audit', 'verify', '--json', '--file', file, '--key', keyOf(version)]);
  return { code, ...jsonLines(out)[0] };
}

test('there is an exported log of every version of a row', () => {
  const found = readdirSync(FIXTURES).filter((name) => name.endsWith('.jsonl'));
  expect(
    found.toSorted(),
    'A row has a new version: export a log with it, signed, as test/audit/fixtures/log.v<version>.jsonl with its public key beside it, and keep the older ones.',
  ).toEqual(VERSIONS.map((version) => `log.v${version}.jsonl`));
});

test.each(VERSIONS)('a log of version %i is verified as on the day when it was written', async (version) => {
  const rows = readFileSync(logOf(version), 'utf8')
    .trimEnd()
    .split('\n')
    .flatMap((line) => Row.safeParse(JSON.parse(line)).data ?? []);
  expect(new Set(rows.map(({ v }) => v))).toEqual(new Set([version]));
  expect(await verify(logOf(version), version)).toMatchObject({
    code: 0,
    ok: true,
    rows: rows.length,
    problems: [],
  });
  const independent = fileURLToPath(new URL('./independent-verifier.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    independent,
    logOf(version),
    keyOf(version),
  ]);
  expect(stdout.trim()).toBe('ok');
});

test.each(VERSIONS)('a changed word of a log of version %i is found', async (version) => {
  const file = join(newFolder(), 'log.jsonl');
  const text = readFileSync(logOf(version), 'utf8');
  writeFileSync(file, text.replace('"event":"approved"', '"event":"rejected"'));
  expect(await verify(file, version)).toMatchObject({ code: 1, ok: false });
});
