import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { run } from '../commands/support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** The names of the commands, as the program lists them. */
async function listed(): Promise<string[]> {
  const { out } = await run(['help']);
  return [...out.matchAll(/^ {2}([a-z][a-z -]*?) {2,}/gm)].map(([, name = '']) => name);
}

test('every command that the documentation names exists, and so do its options', async () => {
  const names = await listed();
  expect(names).toContain('manifest check');
  const unknown: string[] = [];
  for (const document of documents) {
    for (const [, line = ''] of read(document).matchAll(/(?:npx |`)countersign ([a-z][^`\n|]*)/g)) {
      const name = names
        .filter((known) => line === known || line.startsWith(`${known} `))
        .sort((left, right) => right.length - left.length)[0];
      if (name === undefined) {
        if (!line.startsWith('help')) unknown.push(`${document}: countersign ${line}`);
        continue;
      }
      const { out } = await run(['help', ...name.split(' ')]);
      for (const [option] of line.matchAll(/--[a-z-]+/g))
        if (!out.includes(option)) unknown.push(`${document}: countersign ${line}: ${option}`);
    }
  }
  expect(unknown).toEqual([]);
});

test('every script that the documentation runs is one of the package', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const used = documents.flatMap((document) =>
    [...read(document).matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name),
  );
  expect(used.filter((name) => scripts[name] === undefined)).toEqual([]);
});

describe('links', () => {
  const anchorsOf = (file: string) =>
    [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );

  test.each(documents)('of %s lead somewhere', (document) => {
    const broken = [...read(document).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].filter(
      ([, path = '', anchor]) => {
        const file = path === '' ? join(root, document) : resolve(root, dirname(document), path);
        return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
      },
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('the table of contents leads to every page', () => {
    const contents = read('docs/README.md');
    const pages = readdirSync(join(root, 'docs')).filter(
      (name) => /\.md$/.test(name) && name !== 'README.md',
    );
    expect(pages.filter((page) => !contents.includes(`(${page}`))).toEqual([]);
  });
});

test('the README is short', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(90);
});

test('the settings that the set-up page names are in .env.example, and its Redis is the one of the compose file', () => {
  const page = read('docs/install.md');
  const known = Object.keys(parseEnv(read('.env.example')));
  const named = [
    ...new Set([...page.matchAll(/`((?:SLACK|OPENAI|REDIS)_[A-Z_]+)`/g)].map(([, name = '']) => name)),
  ];
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
  const compose = parse(read('templates/compose.yml'));
  expect(page).toContain(compose.services.redis.command);
});

test('the set-up page has the eight steps in their order', () => {
  const steps = [...read('docs/install.md').matchAll(/^## (\d)\. /gm)].map(([, number]) => Number(number));
  expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
