import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { run } from '../commands/support.ts';
import { docPages, ROOT } from './doc-pages.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docPages()];

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
        const file = path === '' ? join(ROOT, document) : resolve(ROOT, dirname(document), path);
        return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
      },
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('the table of contents leads to every page, and the summary of the evidence to the others of its folder', () => {
    const missing = docPages().filter((page) => {
      const [folder, name] = [dirname(page), basename(page)];
      const contents = name === 'README.md' ? 'docs/README.md' : `${folder}/README.md`;
      return page !== contents && !read(contents).includes(`(${relative(dirname(contents), page)}`);
    });
    expect(missing).toEqual([]);
  });
});

test('the README is short', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(90);
});

test('the settings that the start page names are in .env.example, and its Redis is the one of the compose file', () => {
  const page = read('docs/start.md');
  const known = Object.keys(parseEnv(read('.env.example')));
  const named = [
    ...new Set([...page.matchAll(/`((?:SLACK|OPENAI|REDIS)_[A-Z_]+)`/g)].map(([, name = '']) => name)),
  ];
  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
  const compose = parse(read('templates/compose.yml'));
  expect(page).toContain(compose.services.redis.command);
});

test('the start page has the eight steps by hand in their order', () => {
  const steps = [...read('docs/start.md').matchAll(/^### (\d)\. /gm)].map(([, number]) => Number(number));
  expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});
