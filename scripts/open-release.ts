import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

const Sbom = z.object({
  bomFormat: z.literal('CycloneDX'),
  metadata: z.object({ component: z.object({ name: z.string(), version: z.string() }) }),
  components: z.array(z.object({ name: z.string(), version: z.string(), purl: z.string() })),
});
const Statement = z.object({
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
});
const Package = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: z.record(z.string(), z.string()),
});

/** Opens each file of a release but the package as somebody who gets it would, and says what was seen; a wrong one is an error. */
export function* openRelease(folder: string, root: string): Generator<string> {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const own = Package.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: folder });
  const summed = read('SHA256SUMS').trim().split('\n').length;
  check('SHA256SUMS', summed === readdirSync(folder).length - 1, 'it does not name every other file');
  yield `SHA256SUMS: sha256sum agrees with ${summed} files`;

  const { subject } = Statement.parse(JSON.parse(read('provenance.intoto.json')));
  for (const { name, digest } of subject)
    check(name, digest.sha256 === sha256(join(folder, name)), 'provenance names another digest');
  yield `provenance.intoto.json: the digests of ${subject.length} files, unsigned`;

  const { metadata, components } = Sbom.parse(JSON.parse(read('sbom.cdx.json')));
  const { name, version } = metadata.component;
  check('sbom.cdx.json', name === own.name && version === own.version, `it is of ${name} ${version}`);
  const listed = new Set(components.map((each) => each.name));
  for (const each of Object.keys(own.dependencies))
    check('sbom.cdx.json', listed.has(each), `${each} is missing`);
  yield `sbom.cdx.json: CycloneDX with ${components.length} packages, all dependencies among them`;

  const licences = read('THIRD_PARTY_LICENSES').match(/^=+\n\S+ \S+ \(.+\)\n=+$/gm) ?? [];
  check('THIRD_PARTY_LICENSES', licences.length > 0, 'it names no package');
  yield `THIRD_PARTY_LICENSES: the licences of ${licences.length} packages in the bundle of the image`;

  const changes = read('CHANGES.md');
  check('CHANGES.md', changes.startsWith(`## ${own.version}`), 'it is of another version');
  yield `CHANGES.md: ${changes.split('\n').length} lines, the notes of the release`;

  yield* unpacked(join(folder, `contract-${own.version}.tgz`), (inside) => {
    const files = readdirSync(join(inside, 'contract')).map((file) => join('contract', file));
    for (const file of [...files, 'manifest.schema.json'])
      check(
        file,
        readFileSync(join(inside, file), 'utf8') === readFileSync(join(root, file), 'utf8'),
        'it differs',
      );
    return `contract-${own.version}.tgz: ${files.length} parts and the schema of the manifest, as in the source`;
  });
  yield* unpacked(join(folder, `countersign-chart-${own.version}.tgz`), (inside) => {
    const chart = readFileSync(join(inside, 'countersign/Chart.yaml'), 'utf8');
    check('chart', chart.includes(`\nversion: ${own.version}\n`), 'it has another version');
    return `countersign-chart-${own.version}.tgz: the chart of ${own.version}`;
  });
}

/** Unpacks an archive into a folder that is gone afterwards. */
function* unpacked(archive: string, look: (folder: string) => string): Generator<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-open-'));
  try {
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    yield look(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function check(what: string, holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(`${what}: ${otherwise}`);
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
