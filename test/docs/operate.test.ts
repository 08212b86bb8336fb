import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OUTAGES } from '../../scripts/alerts.ts';
import { referencePages } from '../../scripts/reference-pages.ts';
import { METRICS } from '../../src/observe/metrics-table.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { docPages, ROOT } from './doc-pages.ts';

const read = (file: string) => readFileSync(`${ROOT}/${file}`, 'utf8');

test('no page names a metric that there is not', () => {
  const named = new Set(docPages().flatMap((page) => read(page).match(/\bcountersign_[a-z_]+/g) ?? []));
  expect(named.size).toBeGreaterThan(5);
  expect([...named].filter((name) => !Object.keys(METRICS).includes(name))).toEqual([]);
});

test('the page of alerts has each one, and no page names another', () => {
  const alerts = [...read('deploy/prometheus/alerts.yml').matchAll(/alert: (\w+)/g)].map(
    ([, name = '']) => name,
  );
  const rows = [...read('docs/alerts.md').matchAll(/^\| `(Countersign\w+)`/gm)].map(([, name = '']) => name);
  expect(rows).toEqual(nonEmpty(alerts));
  expect(Object.keys(OUTAGES).sort()).toEqual([...alerts].sort());
  const named = docPages().flatMap((page) => read(page).match(/`Countersign[A-Z]\w+`/g) ?? []);
  expect(named.filter((name) => !alerts.includes(name.slice(1, -1)))).toEqual([]);
});

test('the page of deployments names only files that exist', () => {
  const files = read('docs/deploy.md').match(
    /`(?:Dockerfile|compose\.yml|kubernetes\/|helm\/|countersign\.service|\w+\/[\w.]+\.(?:json|yml))`/g,
  );
  expect(files?.length).toBeGreaterThan(5);
  for (const file of nonEmpty(files ?? []))
    expect(existsSync(`${ROOT}/deploy/${file.slice(1, -1)}`), file).toBe(true);
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
