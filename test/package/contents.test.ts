import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { contractProblems, libraryTypes } from '../../scripts/contract.ts';
import { readImports } from '../support/imports.ts';
import { packPackage, ROOT } from './pack-package.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const tarball = await packPackage(folder);
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

function packagesImportedIn(part: string): string[] {
  const files = readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(?:js|d\.ts)$/.test(path),
  );
  const names = files
    .flatMap((path) => readImports(path, readFileSync(join(folder, part, path), 'utf8')))
    .filter(({ isOwn, target }) => !isOwn && !target.startsWith('node:'))
    .map(({ target }) => /^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target);
  return [...new Set(names)].sort();
}

test('every package that the code imports is a dependency, and every dependency is imported', () => {
  const imported = packagesImportedIn('dist/bin');
  expect(imported).toEqual(Object.keys({ ...dependencies, ...peerDependencies }).sort());
});

test('the types are those that the entry reaches, and import only dependencies', () => {
  const types = readdirSync(join(folder, 'dist/types'), { recursive: true, encoding: 'utf8' });
  expect(types).toContain('index.d.ts');
  expect(types.filter((path) => /^(?:bot|store|commands)\//.test(path))).toEqual([]);
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(packagesImportedIn('dist/types')));
});

test('the types are those of contract/', () => {
  const types = libraryTypes(join(folder, 'dist/types'));
  const committed = (file: string) => readFileSync(join(ROOT, 'contract', file), 'utf8');
  expect(types).toContain('export declare function defineTool');
  expect(contractProblems(new Map([['library.txt', types]]), committed).join('')).toBe('');
  const renamed = types.replace('export declare function createBot(', 'export declare function startBot(');
  expect(contractProblems(new Map([['library.txt', renamed]]), committed).join('')).toContain(
    'A line is gone',
  );
});

test('the client needs no module of Node and no package but jose', () => {
  const seen = new Set<string>();
  const others = new Set<string>();
  const follow = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { isOwn, target } of readImports(path, readFileSync(join(folder, path), 'utf8')))
      if (isOwn) follow(target);
      else others.add(target);
  };
  follow('dist/bin/client.js');
  expect(seen.size).toBeGreaterThan(3);
  expect([...others]).toEqual(['jose']);
});

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: folder, strict: true });
  expect(messages).toEqual([]);
});

test('the types resolve for programs of every kind that can import the package', async () => {
  const checked = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (checked.types === false) throw new Error('The package has no types.');
  // The package is ESM: a CommonJS program imports it dynamically, and the resolution of Node 10 knows no exports.
  const others = checked.problems.filter(
    (problem) =>
      !(
        problem.kind === 'CJSResolvesToESM' ||
        ('resolutionKind' in problem && problem.resolutionKind === 'node10')
      ),
  );
  expect(others).toEqual([]);
});

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      devOptional: z.boolean().optional(),
      optional: z.boolean().optional(),
    }),
  ),
});
const Sbom = z.object({
  components: z.array(
    z.object({
      group: z.string().optional(),
      name: z.string(),
      licenses: z.array(
        z.object({
          license: z.object({ id: z.string().optional(), name: z.string().optional() }).optional(),
          expression: z.string().optional(),
        }),
      ),
    }),
  ),
});

/** Lists the packages whose code is in the browser part of the page, by the licences beside it. */
function packagesInPage(): string[] {
  const licences = readFileSync(join(folder, 'dist/bin/page/web/dist/THIRD_PARTY_LICENSES'), 'utf8');
  return [...licences.matchAll(/^=+\n(\S+) \S+ \(/gm)].map(([, name = '']) => name).sort();
}

test('the page is in the package, with the licences of what it is made of', () => {
  const assets = readdirSync(join(folder, 'dist/bin/page/web/dist/assets'));
  expect(assets.map((name) => name.split('.').at(-1)).sort()).toEqual(['css', 'js']);
  expect(packagesInPage()).toContain('react-dom');
});

test('the SBOM lists the production packages of the lock file, all of them with a licence', () => {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  const { components } = Sbom.parse(
    JSON.parse(
      execFileSync(process.execPath, ['scripts/sbom.mjs'], {
        ...options,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ),
  );
  const listed = new Set(
    components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`)),
  );
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')));
  const inLock = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');
  // An optional package is there on the platforms that it is for, also if a development package needs it as well.
  const isNeeded = ({ optional, devOptional }: (typeof packages)[string]) => !optional && !devOptional;
  const needed = inLock.filter(([, each]) => isNeeded(each)).map(([path]) => nameOf(path));
  expect(needed.length).toBeGreaterThan(100);
  expect([...needed, ...packagesInPage()].filter((name) => !listed.has(name))).toEqual([]);
  const known = new Set([...inLock.map(([path]) => nameOf(path)), ...packagesInPage()]);
  expect([...listed].filter((name) => !known.has(name))).toEqual([]);
  expect(components.filter(({ licenses }) => licenses.length === 0)).toEqual([]);
  const counts = new Map<string, number>();
  for (const { licenses } of components) {
    const name = licenses
      .map(({ license, expression }) => license?.id ?? license?.name ?? expression)
      .join(', ');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  process.stdout.write(
    `${components.length} production packages: ${JSON.stringify(Object.fromEntries(counts))}\n`,
  );
});
