import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestFields } from '../../scripts/manifest-fields.ts';
import { METRICS } from '../../src/observe/metrics-table.ts';
import { ManifestFile } from '../../src/tools/manifest/schema/manifest-file.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}/docs/operate.md`, 'utf8');

test('the operations page describes every metric as the table does, and names no other', () => {
  for (const [name, { labels, help }] of Object.entries(METRICS)) {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    expect(page).toContain(`| \`${name}\` | ${shown} | ${help} |`);
  }
  const named = new Set(page.match(/\bcountersign_[a-z_]+/g));
  expect([...named].filter((name) => !Object.keys(METRICS).includes(name))).toEqual([]);
});

test('the operations page names every alert, and only deployment files that exist', () => {
  const alerts = readFileSync(`${root}/deploy/prometheus/alerts.yml`, 'utf8');
  for (const [, name = ''] of alerts.matchAll(/alert: (\w+)/g)) expect(page).toContain(`\`${name}\``);
  const files = page.match(
    /`(?:Dockerfile|compose\.yml|kubernetes\/|countersign\.service|\w+\/[\w.]+\.(?:json|yml))`/g,
  );
  expect(files?.length).toBeGreaterThan(5);
  for (const file of files ?? []) expect(existsSync(`${root}/deploy/${file.slice(1, -1)}`), file).toBe(true);
});

test('the manifest sample of the operations page holds', () => {
  const sample = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(ManifestFile.safeParse({ slack: {}, ...parse(sample) }).success).toBe(true);
});

test('the table of fields is the one of the schema, and every field has a meaning; `npm run schema` writes it anew', () => {
  const table = readFileSync(`${root}/docs/manifest-fields.md`, 'utf8');
  expect(table).toBe(manifestFields());
  expect(table.split('\n').filter((line) => /\|\s*\|$/.test(line))).toEqual([]);
});
