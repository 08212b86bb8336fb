import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildPage } from '../../../playground/start/build-page.ts';
import { messageOf, temporaryFolder } from '../install/stand-ins.ts';

/** A one-line page and the log of its build. */
function smallPage() {
  const web = temporaryFolder();
  mkdirSync(join(web, 'src'));
  writeFileSync(join(web, 'index.html'), '<script type="module" src="/src/main.ts"></script>');
  writeFileSync(join(web, 'vite.config.ts'), `export default { root: ${JSON.stringify(web)} };`);
  const source = join(web, 'src', 'main.ts');
  writeFileSync(source, 'document.title = "small";');
  const lines: string[] = [];
  const build = () => buildPage({ web, log: (line) => lines.push(line) });
  return { web, source, lines, build };
}

test('a page that is missing is built, and one that is there is left alone', async () => {
  const { web, lines, build } = smallPage();
  const folder = await build();
  expect(folder).toBe(join(web, 'dist'));
  expect(readFileSync(join(folder, 'index.html'), 'utf8')).toMatch(/src="\/assets\/.*\.js"/);
  expect(lines).toEqual(['Building the page.']);
  const builtAt = statSync(join(folder, 'index.html')).mtimeMs;
  await build();
  expect(statSync(join(folder, 'index.html')).mtimeMs).toBe(builtAt);
  expect(lines).toHaveLength(1);
});

test('a page that is older than one of its sources is rebuilt', async () => {
  const { source, lines, build } = smallPage();
  await build();
  const later = new Date(Date.now() + 60_000);
  utimesSync(source, later, later);
  await build();
  expect(lines).toEqual(['Building the page.', 'Building the page, which has changed.']);
});

test('a page that cannot be built is one sentence with the reason', async () => {
  const { web, source, build } = smallPage();
  writeFileSync(source, 'import "./missing.ts";');
  const message = await messageOf(build());
  expect(message).toMatch(
    /^The page could not be built from \S+; fix this and start again:\n(.|\n)*missing\.ts/,
  );
  expect(existsSync(join(web, 'dist', 'index.html'))).toBe(false);
});
