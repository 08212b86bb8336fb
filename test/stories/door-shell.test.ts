import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { quote } from '../../src/commands/door/ask.ts';
import { type Calling, startCalling, WITH_CALLERS } from './calling.ts';
import { countersign, linesOf, temporaryFolder } from './shell.ts';
import { CAST } from './support.ts';

const SWEEP = { everyMs: 100, overdueMs: 0 };

/** Asks before a command that leaves a line in the file `ran`. */
function startAsk(door: Calling, options: readonly string[] = [], script = 'echo hello; echo once >> ran') {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'plan.bin'), 'the plan');
  const args = ['ask', '--policy', 'release', '--file', 'plan.bin', ...options, '--', 'sh', '-c', script];
  const start = () => countersign(door, args, { cwd });
  return { cwd, start, ran: () => linesOf(join(cwd, 'ran')) };
}

test('an approved command runs once, its output is streamed and its end is reported; the receipt is checked', async () => {
  const { privatePem, publicPem } = createKeyPair();
  const door = await startCalling({ auditKey: privatePem });
  const { cwd, start, ran } = startAsk(door, ['--title', 'Release 12', '--json', '--audit-key', 'audit.pub']);
  writeFileSync(join(cwd, 'audit.pub'), publicPem);
  const shell = start();
  await shell.says(/Waiting for approval in Slack/);
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain("sh -c 'echo hello; echo once >> ran'");
  expect(card).toContain('Release 12');
  expect(ran()).toEqual([]);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await shell.ended).toBe(0);
  expect(ran()).toEqual(['once']);
  expect(shell.error()).toMatch(new RegExp(`Approved by ${CAST.alice}. Running.\nhello`));
  expect(JSON.parse(shell.out())).toMatchObject({ status: 'succeeded', exit_code: 0 });
  await door.place.shows(/release-pipeline ran this itself/);

  // A receipt by another key is none.
  writeFileSync(join(cwd, 'audit.pub'), createKeyPair().publicPem);
  const forged = start();
  await forged.says(/Waiting/);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await forged.ended).toBe(85);
  expect(ran()).toEqual(['once']);
});

test('a command that fails has its own exit code, and people are asked how far it came; one that is not there did not run', async () => {
  const door = await startCalling();
  const failing = startAsk(door, [], 'echo once >> ran; exit 7').start();
  await failing.says(/Waiting/);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await failing.ended).toBe(7);
  await door.place.shows(/don't know whether/);

  const cwd = temporaryFolder();
  const missing = countersign(door, ['ask', '--policy', 'release', '--', 'no-such-program', '--help'], {
    cwd,
  });
  await missing.says(/Waiting/);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await missing.ended).toBe(127);
  expect(missing.error()).toContain('It did not run');
});

test('rejected, withdrawn by Ctrl-C and changed while it waited: each has its exit code, and nothing runs', async () => {
  const door = await startCalling();
  const { cwd, start, ran } = startAsk(door);
  const rejected = start();
  await rejected.says(/Waiting/);
  await door.reject(CAST.bruno, /Approval needed/, 'Not today.');
  expect(await rejected.ended).toBe(80);
  expect(rejected.error()).toContain('Rejected: Not today.');

  const stopped = start();
  await stopped.says(/Waiting/);
  await door.place.shows(/Approval needed/);
  stopped.child.kill('SIGINT');
  expect(await stopped.ended).toBe(82);
  await door.place.shows(/withdrawn by .*release-pipeline/i);

  const changed = start();
  await changed.says(/Waiting/);
  writeFileSync(join(cwd, 'plan.bin'), 'another plan');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await changed.ended).toBe(84);
  expect(ran()).toEqual([]);
});

test('expired is told apart, and so are a wrong key, a policy that is not its own and an address without https', async () => {
  const manifest = WITH_CALLERS.replace('default: {', 'default: { expires: 1s,').replace(
    'release: {',
    'release: { expires: 1s,',
  );
  const door = await startCalling({ manifest, sweep: SWEEP });
  const { cwd, start, ran } = startAsk(door);
  const expired = start();
  const args = ['ask', '--policy', 'release', '--', 'true'];
  const stranger = countersign(door, args, { cwd, environment: { COUNTERSIGN_KEY: 'x'.repeat(43) } });
  const other = countersign(door, ['ask', '--policy', 'default', '--', 'true'], { cwd });
  const plain = countersign(door, args, { cwd, environment: { COUNTERSIGN_URL: 'http://bot.example.com' } });
  const nothing = countersign(door, ['ask', '--policy', 'release'], { cwd });
  expect(await expired.ended).toBe(81);
  expect(await stranger.ended).toBe(85);
  expect(await other.ended).toBe(85);
  expect([await plain.ended, await nothing.ended]).toEqual([2, 2]);
  expect(plain.error()).toContain('needs https');
  expect(ran()).toEqual([]);
});

test('killed while it waited, the next one joins the request; killed while it ran, people are asked and nothing runs again', async () => {
  const manifest = WITH_CALLERS.replace('release: {', 'release: { start_within: 10s,');
  const door = await startCalling({ sweep: SWEEP, manifest });
  const { cwd, start, ran } = startAsk(door, ['--report-within', '2'], 'echo once >> ran; exec sleep 60');
  const first = start();
  await first.says(/Waiting/);
  await door.place.shows(/Approval needed/);
  first.child.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const second = start();
  await second.says(/Waiting/);
  const [, id] = /request (\S+)\)/.exec(first.error()) ?? [];
  expect(second.error()).toContain(String(id));
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(ran, { timeout: 60_000 }).toEqual(['once']);
  second.child.kill('SIGKILL');
  await door.place.shows(/started it and did not say what happened/);
  const third = countersign(
    door,
    [
      'ask',
      '--policy',
      'release',
      '--file',
      'plan.bin',
      '--report-within',
      '2',
      '--',
      'sh',
      '-c',
      'echo once >> ran; exec sleep 60',
    ],
    { cwd },
  );
  expect(await third.ended).toBe(83);
  expect(ran()).toEqual(['once']);
});

test('two different command lines never look the same', () => {
  const lines = [
    ['a b'],
    ['a', 'b'],
    ["a'", 'b'],
    ["a' b"],
    ['a', "'b"],
    ['a\nb'],
    ['', 'a', 'b'],
    ['a', 'b', ''],
  ];
  const written = lines.map((line) => line.map(quote).join(' '));
  expect(new Set(written).size).toBe(lines.length);
});
