import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { referencePages } from '../../scripts/reference-pages.ts';
import { METRICS } from '../../src/observe/metrics-table.ts';
import { nonEmpty } from '../support/non-empty.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');
const pages = readdirSync(`${root}/docs`).filter((name) => name.endsWith('.md'));

test('no page names a metric that there is not', () => {
  const named = new Set(pages.flatMap((page) => read(`docs/${page}`).match(/\bcountersign_[a-z_]+/g) ?? []));
  expect(named.size).toBeGreaterThan(5);
  expect([...named].filter((name) => !Object.keys(METRICS).includes(name))).toEqual([]);
});

test('the runbook says what to do at every alert, and names no other', () => {
  const page = read('docs/runbook.md');
  const alerts = [...read('deploy/prometheus/alerts.yml').matchAll(/alert: (\w+)/g)].map(
    ([, name = '']) => name,
  );
  const named = [...page.matchAll(/^\| `(Countersign\w+)`/gm)].map(([, name = '']) => name);
  expect([...named].sort()).toEqual([...alerts].sort());
});

test('the page of deployments names only files that exist', () => {
  const files = read('docs/deploy.md').match(
    /`(?:Dockerfile|compose\.yml|kubernetes\/|helm\/|countersign\.service|\w+\/[\w.]+\.(?:json|yml))`/g,
  );
  expect(files?.length).toBeGreaterThan(5);
  for (const file of nonEmpty(files ?? []))
    expect(existsSync(`${root}/deploy/${file.slice(1, -1)}`), file).toBe(true);
});

test('the pages of fields, settings, commands and metrics are those of the source; `npm run schema` writes them', async () => {
  const written = await referencePages();
  expect([...written.keys()].map((name) => [name, read(`docs/${name}`)])).toEqual([...written]);
  for (const page of nonEmpty(written.values()))
    expect(page.split('\n').filter((line) => /\|\s*\|$/.test(line))).toEqual([]);
});

test('every setting of .env.example is on the page of settings, and the other way round', () => {
  const named = (text: string, pattern: RegExp) =>
    [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();
  const onPage = named(read('docs/settings.md'), /^\|[^|]*?`([A-Z_]+)`/gm);
  const example = named(read('.env.example'), /^([A-Z_]+)=/gm);
  expect(example.filter((name) => !read('docs/settings.md').includes(`\`${name}\``))).toEqual([]);
  const elsewhere = ['NODE_EXTRA_CA_CERTS', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  expect(onPage.filter((name) => !example.includes(name) && !elsewhere.includes(name))).toEqual([]);
});
