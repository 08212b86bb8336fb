import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { findExecutable } from '../../playground/install/find-executable.ts';
import { findInstaller, installPackage, type PackageSpec } from '../../playground/install/install-package.ts';
import { thisMachine } from '../../playground/install/machine.ts';
import { OUTAGES as OUTAGES_BY_ALERT } from '../../scripts/alerts.ts';
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

interface Outage {
  /** The time between two scrapes; a minute unless it matters. */
  readonly interval?: string;
  readonly series: Readonly<Record<string, string>>;
  /** The alerts that fire after 20 minutes. */
  readonly fires: readonly string[];
}

const OUTAGES: Readonly<Record<string, Outage>> = {
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
  'a webhook that takes nothing, while Slack does': {
    series: {
      'countersign_record_up{}': '1x20',
      'countersign_outbox_oldest_seconds{}': '2x20',
      'countersign_webhooks_oldest_seconds{}': '0+60x20',
    },
    fires: ['CountersignWebhooksNotDelivered'],
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
  'a Slack that is away for a minute': {
    interval: '15s',
    series: { 'countersign_record_up{}': '1x80', 'countersign_slack_connected{}': '1x70 0x3 1x5' },
    fires: ['CountersignSlackDisconnected'],
  },
  'a token that was revoked': {
    series: { 'countersign_record_up{}': '1x20', 'countersign_slack_token_accepted{}': '1x10 0x10' },
    fires: ['CountersignSlackTokenRefused'],
  },
  'a wrong key of the model': {
    series: { 'countersign_record_up{}': '1x20', 'countersign_model_key_accepted{model="gpt"}': '1 0x20' },
    fires: ['CountersignModelRefused'],
  },
  'one of two bots that is gone': {
    series: {
      'countersign_record_up{instance="a"}': '1x20',
      'countersign_record_up{instance="b"}': '1x10 stale',
    },
    fires: ['CountersignBotMissing'],
  },
  'bots that were replaced one after the other': {
    series: {
      'countersign_record_up{instance="a"}': '1x10 stale',
      'countersign_record_up{instance="b"}': '1x13 stale',
      'countersign_record_up{instance="c"}': '_x11 1x8',
      'countersign_record_up{instance="d"}': '_x14 1x5',
    },
    fires: [],
  },
  'a bot that has just started': {
    interval: '15s',
    series: { 'countersign_record_up{}': '_x74 1x4', 'countersign_slack_connected{}': '_x74 0 1x4' },
    fires: [],
  },
  'no outage': {
    series: {
      'countersign_slack_connected{}': '1x20',
      'countersign_slack_token_accepted{}': '1x20',
      'countersign_model_key_accepted{model="gpt"}': '1x20',
      'countersign_record_up{}': '1x20',
      'countersign_record_writable{}': '1x20',
      'countersign_outbox_oldest_seconds{}': '2x20',
      'countersign_webhooks_oldest_seconds{}': '2x20',
      'countersign_tool_problems{}': '0x20',
    },
    fires: [],
  },
};

/** Plays series to the alerts; returns what promtool finds different from what is expected. */
function judge(interval: string, series: Outage['series'], promql_expr_test: readonly object[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-alerts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'outage.yml');
  const input_series = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const tests = [{ interval, input_series, promql_expr_test }];
  const rule_files = [`${ROOT}/deploy/prometheus/alerts.yml`];
  writeFileSync(file, JSON.stringify({ rule_files, evaluation_interval: interval, tests }));
  return complaintsOf(['test', 'rules', file]);
}

test.each(Object.entries(OUTAGES))(
  'Prometheus fires for %s, and for nothing else',
  (_name, { interval = '1m', series, fires }) => {
    const expected = {
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: '20m',
      exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
    };
    expect(judge(interval, series, [expected])).toEqual([]);
  },
);

/** What each outage does to the metrics, from the tenth minute on, with a scrape each 15 seconds; all was well before. */
const BEGINNINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CountersignRecordUnreachable: { 'countersign_record_up{}': '1x39 0x100' },
  CountersignBotMissing: {
    'countersign_record_up{instance="a"}': '1x139',
    'countersign_record_up{instance="b"}': '1x39 stale',
  },
  CountersignSlackDisconnected: { 'countersign_slack_connected{}': '1x39 0x100' },
  CountersignSlackTokenRefused: { 'countersign_slack_token_accepted{}': '1x39 0x100' },
  CountersignRecordNotWritable: { 'countersign_record_writable{}': '1x39 0x100' },
  CountersignRedisFillsUp: {
    'countersign_redis_memory_bytes{kind="used"}': '800x39 900x100',
    'countersign_redis_memory_bytes{kind="max"}': '1000x139',
  },
  CountersignWorkStuck: { 'countersign_outbox_oldest_seconds{}': '0x39 0+15x100' },
  CountersignWebhooksNotDelivered: { 'countersign_webhooks_oldest_seconds{}': '0x39 0+15x100' },
  CountersignUnknownOutcome: { 'countersign_requests_open{state="unknown"}': '0x39 1x100' },
  CountersignThreadQuarantined: { 'countersign_threads_quarantined{}': '0x39 1x100' },
  CountersignModelFailing: {
    'countersign_model_calls_total{finish="stop"}': '0+1x39 40x100',
    'countersign_model_calls_total{finish="error"}': '0x39 0+1x100',
  },
  CountersignModelRefused: { 'countersign_model_key_accepted{model="gpt"}': '1x39 0x100' },
  CountersignAuditNotSigned: { 'countersign_audit_refusals_total{code="log-changed"}': '0x39 1+0.5x100' },
  CountersignAuditNotExported: {
    'countersign_audit_export_failures_total{sink="file"}': '0x39 1 2 3 3 4 4 4 4 5+0.1x92',
  },
  CountersignToolsMissing: { 'countersign_tool_problems{}': '0x39 1x100' },
};

test.each(Object.entries(OUTAGES_BY_ALERT).map(([alertname, { minutes }]) => ({ alertname, minutes })))(
  '$alertname fires $minutes minutes after its outage begins, as the page of alerts says',
  ({ alertname, minutes }) => {
    const series = { 'countersign_record_up{}': '1x139', ...BEGINNINGS[alertname] };
    expect(Object.keys(BEGINNINGS)).toContain(alertname);
    const firing = (eval_time: string, fires: boolean) => ({
      ...{ eval_time, expr: `count(ALERTS{alertstate="firing", alertname="${alertname}"})` },
      exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
    });
    expect(
      judge('15s', series, [firing(`${9 + minutes}m`, false), firing(`${10 + minutes}m`, true)]),
    ).toEqual([]);
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
