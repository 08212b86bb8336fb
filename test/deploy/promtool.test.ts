import { spawnSync } from 'node:child_process';
import { beforeAll, expect, test } from 'vitest';
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
