import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { findExecutable } from '../../playground/install/find-executable.ts';
import { findInstaller, installPackage, type PackageSpec } from '../../playground/install/install-package.ts';
import { thisMachine } from '../../playground/install/machine.ts';
import { CAST, startStory } from '../stories/support.ts';
import { ROOT } from './files.ts';

const PROMETHEUS: PackageSpec = {
  program: 'Prometheus',
  missing: 'promtool',
  debianPackage: 'prometheus',
  brewArguments: ['prometheus'],
  unwantedService: 'prometheus',
  instead:
    'install Prometheus yourself, so that promtool is on the PATH; the full form of the tests needs it',
};

/** The complaints of Prometheus's own tool about metrics or files of ours. */
function complaintsOf(args: readonly string[], input = ''): string[] {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error !== undefined) throw error;
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
  // Status 3 means breaches of style; the metrics that prom-client itself adds have some.
  if (status === 3) return lines.filter((line) => line.startsWith('countersign_'));
  return status === 0 ? [] : lines;
}

beforeAll(async () => {
  if (findExecutable('promtool', process.env) !== undefined) return;
  const installer = findInstaller(PROMETHEUS, thisMachine(), process.env);
  if (installer === undefined)
    throw new Error(`No promtool found and none may be installed from here: ${PROMETHEUS.instead}.`);
  await installPackage(PROMETHEUS, installer, (line) => process.stdout.write(`${line}\n`));
});

test('promtool finds nothing wrong with the alerts', () => {
  expect(complaintsOf(['check', 'rules', `${ROOT}/deploy/prometheus/alerts.yml`])).toEqual([]);
});

/** The series of each outage, a minute apart, and the alerts that fire in its last minute. */
const OUTAGES = {
  'a Redis that is full': {
    series: { 'countersign_record_up{}': '1x20', 'countersign_record_writable{}': '1 0x20' },
    fires: ['CountersignRecordNotWritable'],
  },
  'writes that were refused between two scrapes': {
    series: {
      'countersign_record_up{}': '1x20',
      'countersign_record_refused_writes_total{code="OOM"}': '0+3x20',
    },
    fires: ['CountersignRecordNotWritable'],
  },
  'a Redis that fills up': {
    series: {
      'countersign_record_up{}': '1x20',
      'countersign_redis_memory_bytes{kind="used"}': '900x20',
      'countersign_redis_memory_bytes{kind="max"}': '1000x20',
    },
    fires: ['CountersignRedisFillsUp'],
  },
  'minutes of 429': {
    series: { 'countersign_record_up{}': '1x20', 'countersign_outbox_oldest_seconds{}': '0+60x20' },
    fires: ['CountersignWorkStuck'],
  },
  'an export that fails': {
    series: {
      'countersign_record_up{}': '1x20',
      'countersign_audit_export_failures_total{sink="file"}': '0+1x20',
    },
    fires: ['CountersignAuditNotExported'],
  },
  'a missing tool': {
    series: { 'countersign_record_up{}': '1x20', 'countersign_tool_problems{}': '1x20' },
    fires: ['CountersignToolsMissing'],
  },
  'no outage': {
    series: {
      'countersign_record_up{}': '1x20',
      'countersign_record_writable{}': '1x20',
      'countersign_outbox_oldest_seconds{}': '2x20',
      'countersign_tool_problems{}': '0x20',
    },
    fires: [],
  },
};

test.each(Object.entries(OUTAGES))(
  'Prometheus fires for %s, and for nothing else',
  (_name, { series, fires }) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-alerts-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'outage.yml');
    const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
    const promql_expr_test = [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '20m',
        exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ];
    const rule_files = [`${ROOT}/deploy/prometheus/alerts.yml`];
    writeFileSync(
      file,
      JSON.stringify({ rule_files, tests: [{ interval: '1m', input_series, promql_expr_test }] }),
    );
    expect(complaintsOf(['test', 'rules', file])).toEqual([]);
  },
);

test('promtool finds a metric without help and a broken file', () => {
  expect(complaintsOf(['check', 'metrics'], 'countersign_oddly 1\n')).not.toEqual([]);
  expect(complaintsOf(['check', 'rules', `${ROOT}/package.json`])).not.toEqual([]);
});

test('promtool finds nothing wrong with what a bot serves after an approved action', async () => {
  const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };
  const story = await startStory({
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    withoutBot: true,
  });
  const bot = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  const served = await fetch(`http://127.0.0.1:${bot.port}/metrics`);
  expect(complaintsOf(['check', 'metrics'], await served.text())).toEqual([]);
});
