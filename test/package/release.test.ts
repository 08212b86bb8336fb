import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRelease } from '../../scripts/open-release.ts';
import { newFolder } from '../commands/support.ts';
import { ROOT } from './pack-package.ts';

const { name, version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
};
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Makes the files of a release as the script does, with little in them. */
function makeRelease(): string {
  const folder = join(newFolder(), 'release');
  mkdirSync(folder);
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const pack = (file: string, from: string, ...what: readonly string[]) =>
    execFileSync('tar', ['-czf', join(folder, file), '-C', from, ...what]);
  const components = Object.keys(dependencies).map((each) => ({
    name: each,
    version: '1',
    purl: `pkg:npm/${each}`,
  }));
  write(
    'sbom.cdx.json',
    JSON.stringify({ bomFormat: 'CycloneDX', metadata: { component: { name, version } }, components }),
  );
  write('THIRD_PARTY_LICENSES', '====\nzod 4.0.0 (MIT)\n====\nMIT\n');
  write('CHANGES.md', `## ${version}\n\nNew.\n`);
  pack(`contract-${version}.tgz`, ROOT, 'contract', 'manifest.schema.json');
  const chart = newFolder();
  cpSync(join(ROOT, 'deploy/helm'), join(chart, 'countersign'), { recursive: true });
  pack(`countersign-chart-${version}.tgz`, chart, 'countersign');
  const subject = readdirSync(folder).map((file) => ({
    name: file,
    digest: { sha256: sha256(join(folder, file)) },
  }));
  write('provenance.intoto.json', JSON.stringify({ subject }));
  sum(folder);
  return folder;
}

function sum(folder: string): void {
  const files = readdirSync(folder).filter((file) => file !== 'SHA256SUMS');
  writeFileSync(
    join(folder, 'SHA256SUMS'),
    files.map((file) => `${sha256(join(folder, file))}  ${file}\n`).join(''),
  );
}

test('each file of a release is opened, and said what it is', () => {
  const seen = [...openRelease(makeRelease(), ROOT)];
  expect(seen.map((line) => line.replace(/:.*/, ''))).toEqual([
    ...['SHA256SUMS', 'provenance.intoto.json', 'sbom.cdx.json', 'THIRD_PARTY_LICENSES', 'CHANGES.md'],
    ...[`contract-${version}.tgz`, `countersign-chart-${version}.tgz`],
  ]);
});

test('a file that was changed after its checksum is found', () => {
  const folder = makeRelease();
  writeFileSync(join(folder, 'CHANGES.md'), `## ${version}\n\nOther.\n`);
  expect(() => [...openRelease(folder, ROOT)]).toThrow(/sha256sum/);
});

test.each([
  ['sbom.cdx.json', 'zod', 'nothing', /provenance names another digest/],
  ['provenance.intoto.json', '"sha256":"', '"sha256":"0', /provenance names another digest/],
])('a file whose digest the provenance does not name is found: %s', (file, from, to, problem) => {
  const folder = makeRelease();
  const text = readFileSync(join(folder, file), 'utf8');
  writeFileSync(join(folder, file), text.replace(from, to));
  sum(folder);
  expect(() => [...openRelease(folder, ROOT)]).toThrow(problem);
});

test('a release that lacks a checksum is found', () => {
  const folder = makeRelease();
  writeFileSync(join(folder, 'more.txt'), 'more');
  expect(() => [...openRelease(folder, ROOT)]).toThrow(/SHA256SUMS: it does not name every other file/);
});
