import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRelease } from './open-release.ts';

/**
 * Makes in `release/` what a release has: package, notes, SBOM, licences, contract, Helm chart, checksums, and a statement of provenance,
 * which the workflow signs. With `--dry-run` it then opens each file, renders the chart, plays the steps of the image, and installs the package
 * in an empty folder on each version of Node that is supported, starts the bot and lets an action be approved. Nothing is published.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'release');
const NODES = [20, 22, 24];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const say = (text: string) => process.stdout.write(`${text}\n`);
const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
  execFileSync(command, args, { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

class NotReady extends Error {}

/** Returns the version, if everything that names it agrees, with the section of the changelog that tells what is in it. */
function checkedVersion(): { readonly version: string; readonly changes: string } {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const chart = read('deploy/helm/Chart.yaml');
  for (const key of ['version', 'appVersion'])
    if (!new RegExp(`^${key}: ${version.replaceAll('.', '\\.')}$`, 'm').test(chart))
      throw new NotReady(
        `deploy/helm/Chart.yaml: "${key}" is not ${version}, the version of package.json; set it`,
      );
  const section = read('CHANGELOG.md')
    .split(/^## /m)
    .find((part) => part.startsWith(version));
  if (section === undefined || section.split('\n').length < 3)
    throw new NotReady(`CHANGELOG.md has no section "## ${version}"; write what changes, for whom`);
  return { version, changes: `## ${section}` };
}

/** Packs the package and returns the name of its file. */
function pack(): string {
  const packed = run('npm', ['pack', '--json', '--pack-destination', OUT]);
  const [made] = JSON.parse(packed.slice(packed.indexOf('['))) as { filename: string }[];
  return made?.filename ?? '';
}

function helmChart(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-chart-'));
  cpSync(join(ROOT, 'deploy/helm'), join(folder, 'countersign'), { recursive: true });
  const name = `countersign-chart-${version}.tgz`;
  run('tar', ['-czf', join(OUT, name), '-C', folder, 'countersign']);
  rmSync(folder, { recursive: true });
  return name;
}

/** Lists what the image is built from; a file that the Dockerfile copies and that is not there is an error. */
function imageContext(): string[] {
  const copied = [...read('deploy/Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, paths = '']) => paths.split(' '),
  );
  const missing = copied.filter((path) => !existsSync(join(ROOT, path)));
  if (missing.length > 0)
    throw new NotReady(`deploy/Dockerfile copies ${missing.join(', ')}, which is not there`);
  return copied;
}

function sha256(name: string): string {
  return createHash('sha256')
    .update(readFileSync(join(OUT, name)))
    .digest('hex');
}

/** Writes a statement in the form of SLSA 1.0, without a signature: the workflow has the identity that signs it. */
function provenance(version: string, names: readonly string[]): void {
  const commit = run('git', ['rev-parse', 'HEAD']).trim();
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: names.map((name) => ({ name, digest: { sha256: sha256(name) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release',
        externalParameters: { version },
        resolvedDependencies: [
          { uri: 'git:HEAD', digest: { gitCommit: commit } },
          {
            uri: 'package-lock.json',
            digest: { sha256: createHash('sha256').update(read('package-lock.json')).digest('hex') },
          },
        ],
      },
      runDetails: { builder: { id: 'unsigned' } },
    },
  };
  writeFileSync(join(OUT, 'provenance.intoto.json'), `${JSON.stringify(statement, undefined, 2)}\n`);
}

/** Plays a test of the full form. */
function play(file: string, env: NodeJS.ProcessEnv = {}): void {
  run('npx', ['vitest', 'run', '--config', 'vitest.full.config.ts', file], { ...process.env, ...env });
}

/** Uses every file of the release. */
function tryAll(tarball: string, chart: string): void {
  for (const seen of openRelease(OUT, ROOT)) say(seen);
  play('test/deploy/helm.test.ts', { COUNTERSIGN_CHART: join(OUT, chart) });
  say(`${chart}: rendered and checked by Helm`);
  play('test/deploy/image-steps.test.ts');
  say('image: built by the steps of the Dockerfile in an empty folder, started and used');
  for (const major of NODES) tryOn(major, tarball);
}

/** Plays the first start with the package on a version of Node from npm. */
function tryOn(major: number, tarball: string): void {
  const folder = mkdtempSync(join(tmpdir(), `countersign-node${major}-`));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `node@${major}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const bin = join(folder, 'node_modules/node/bin');
  const version = run(join(bin, 'node'), ['--version']).trim();
  play('test/package/first-start.test.ts', {
    COUNTERSIGN_TARBALL: join(OUT, tarball),
    COUNTERSIGN_NODE: bin,
  });
  say(`${tarball}: installed, started and used on Node ${version}`);
  rmSync(folder, { recursive: true });
}

try {
  const { version, changes } = checkedVersion();
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT);
  run('npx', ['vitest', 'run', 'test/contract.test.ts']);
  const context = imageContext();
  // The bundle that the image runs, with the licences of what is in it; npm puts it back when it has packed the package.
  run('npm', ['run', '-s', 'build']);
  const tarball = pack();
  writeFileSync(join(OUT, 'sbom.cdx.json'), run('npm', ['run', '-s', 'sbom']));
  cpSync(join(ROOT, 'dist/THIRD_PARTY_LICENSES'), join(OUT, 'THIRD_PARTY_LICENSES'));
  run('tar', ['-czf', join(OUT, `contract-${version}.tgz`), 'contract', 'manifest.schema.json']);
  const chart = helmChart(version);
  writeFileSync(join(OUT, 'CHANGES.md'), changes);
  const names = readdirSync(OUT).toSorted();
  provenance(version, names);
  const sums = [...names, 'provenance.intoto.json'].map((name) => `${sha256(name)}  ${name}\n`);
  writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''));
  say(`Countersign ${version}, in release/:\n${sums.join('')}image: of ${context.length} files and folders`);
  if (process.argv.includes('--dry-run')) tryAll(tarball, chart);
} catch (error) {
  if (!(error instanceof NotReady)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}
