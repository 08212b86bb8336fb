import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Metrics } from '../../src/observe/metrics.ts';
import { METRICS } from '../../src/observe/metrics-table.ts';
import { parseExposition } from '../observe/exposition.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { readDocuments, readText } from './files.ts';

const ALERTS = 'deploy/prometheus/alerts.yml';

const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ summary: z.string() }) }),
      ),
    }),
  ),
});
const Dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});

const rules = Rules.parse(readDocuments(ALERTS)[0]).groups.flatMap((group) => group.rules);
const { panels } = Dashboard.parse(JSON.parse(readText('deploy/grafana/dashboard.json')));
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

const served = async (): Promise<ReadonlyMap<string, string>> =>
  parseExposition(await new Metrics().text()).types;

/** The metrics that an expression names, without the suffixes of histograms. */
function metricsIn(expression: string): string[] {
  const names = expression.match(/\b(?:countersign|nodejs|process)_[a-z0-9_]+/g) ?? [];
  return names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
}

describe('the alerts and the dashboard', () => {
  test('name only metrics that are served, with labels that they have', async () => {
    const types = await served();
    for (const expression of expressions) {
      const names = metricsIn(expression);
      expect(names.length, expression).toBeGreaterThan(0);
      for (const name of nonEmpty(names)) expect([...types.keys()], expression).toContain(name);
      for (const [, name = '', label = ''] of expression.matchAll(/(countersign_\w+)\{(\w+)=/g)) {
        const spec = Object.entries(METRICS).find(([known]) => known === name)?.[1];
        expect(spec?.labels, expression).toContain(label);
      }
    }
  });

  test('are fifteen alerts with a summary each, and the dashboard shows every metric of the table', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(15);
    const shown = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr))));
    expect(Object.keys(METRICS).filter((name) => !shown.has(name))).toEqual([]);
  });
});
