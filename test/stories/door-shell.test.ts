import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import { quote } from '../../src/commands/door/ask.ts';
import { actionDigest, signReceipt } from '../../src/door/receipt.ts';
import { ExactAction } from '../../src/tools/toolbox/caller-action.ts';
import { type Calling, KEYS, startCalling, WITH_CALLERS } from './calling.ts';
import { CLI, countersign, linesOf, temporaryFolder } from './shell.ts';
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
  await door.place.shows(/release-pipeline ran “/);

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
  await door.place.shows(/may or may not have happened/);

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

test('a script that the command names is on the card by size and digest, and another one does not run; words alone say so', async () => {
  const door = await startCalling();
  const cwd = temporaryFolder();
  const script = '#!/bin/sh\necho once >> ran\n';
  writeFileSync(join(cwd, 'deploy.sh'), script, { mode: 0o755 });
  writeFileSync(join(cwd, 'values.yml'), 'replicas: 2\n');
  const args = ['ask', '--policy', 'release', '--', './deploy.sh', '--values=values.yml'];
  const changed = countersign(door, args, { cwd });
  await changed.says(/Waiting/);
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain('run “./deploy.sh --values=values.yml”?');
  expect(card).toContain(`./deploy.sh ${shortDigest(script)}`);
  expect(card).toContain(`values.yml ${shortDigest('replicas: 2\n')}`);
  expect(card).not.toContain('Title from');
  expect(card).toContain('Nothing else that it reads is compared.');
  writeFileSync(join(cwd, 'deploy.sh'), script.replace('once', 'other'));
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await changed.ended).toBe(84);
  expect(linesOf(join(cwd, 'ran'))).toEqual([]);

  const same = countersign(door, args, { cwd });
  await same.says(/Waiting/);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await same.ended).toBe(0);
  expect(linesOf(join(cwd, 'ran'))).toEqual(['other']);

  const words = countersign(door, ['ask', '--policy', 'release', '--', 'sh', '-c', './deploy.sh now'], {
    cwd,
  });
  await words.says(/Waiting/);
  expect(JSON.stringify((await door.place.shows(/“sh -c/)).blocks)).toContain('None compared.');
});

test('a bot that cannot be reached is said at once and again', async () => {
  const cwd = temporaryFolder();
  const shell = countersign({ bot: () => ({ port: 9 }) }, ['ask', '--policy', 'release', '--', 'true'], {
    cwd,
  });
  await shell.says(/The bot cannot be reached: .*\. Asking again for 300 seconds/);
  await shell.says(/The bot cannot be reached: .*\. Asking again for 2\d\d seconds/);
});

/** The digest of a file as a card shows it: 12 digits in fours. */
function shortDigest(text: string): string {
  return hash('sha256', text)
    .slice(0, 12)
    .replaceAll(/(.{4})(?=.)/g, '$1 ');
}

/** Starts an HTTP server for the length of a test. */
async function serve(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a start whose answer is lost is not repeated: nothing runs, and the exit code says that it is unknown', async () => {
  const door = await startCalling();
  const cwd = temporaryFolder();
  let starts = 0;
  const COUNTERSIGN_URL = await serve((incoming, outgoing) => {
    const { method, url: path = '', headers } = incoming;
    const { port } = door.bot();
    const sent = httpRequest({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      if (path.endsWith('/start')) {
        starts += 1;
        answer.resume().once('end', () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(sent);
  });
  const shell = countersign(door, ['ask', '--policy', 'release', '--', 'sh', '-c', 'echo once >> ran'], {
    cwd,
    environment: { COUNTERSIGN_URL },
  });
  await shell.says(/Waiting/);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await shell.ended).toBe(83);
  expect(shell.error()).toContain('the command did not run');
  expect(starts).toBe(1);
  expect(linesOf(join(cwd, 'ran'))).toEqual([]);
});

test('a file that is gone is a change; a signal reaches the command that runs, and its end is reported', async () => {
  const door = await startCalling();
  const { cwd, start, ran } = startAsk(door, [], 'echo once >> ran; exec sleep 60');
  const gone = start();
  await gone.says(/Waiting/);
  rmSync(join(cwd, 'plan.bin'));
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await gone.ended).toBe(84);
  expect(ran()).toEqual([]);

  writeFileSync(join(cwd, 'plan.bin'), 'the plan');
  const stopped = start();
  await stopped.says(/Waiting/);
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(ran, { timeout: 60_000 }).toEqual(['once']);
  stopped.child.kill('SIGTERM');
  expect(await stopped.ended).toBe(143);
  await door.place.shows(/may or may not have happened/);
});

test('a script of a shell goes on after what was approved, and stops at what was rejected', async () => {
  const door = await startCalling();
  const cwd = temporaryFolder();
  const command = `"${process.execPath}" --import "${import.meta.resolve('tsx')}" "${CLI}" "$@"`;
  writeFileSync(join(cwd, 'countersign'), `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 });
  const ask = (title: string) =>
    `countersign ask --policy release --title ${title} -- sh -c "echo ${title} >> ran"`;
  const script = `set -e\n${ask('one')}\necho between >> ran\n${ask('two')} || { echo "code $?" >> ran; exit 1; }\necho never >> ran\n`;
  const child = spawn('sh', ['-c', script], {
    cwd,
    stdio: 'ignore',
    env: {
      ...{ PATH: `${cwd}:${process.env.PATH}`, COUNTERSIGN_KEY: KEYS.pipeline },
      COUNTERSIGN_URL: `http://127.0.0.1:${door.bot().port}`,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  await expect.poll(() => linesOf(join(cwd, 'ran')), { timeout: 60_000 }).toEqual(['one', 'between']);
  await door.reject(CAST.bruno, /Approval needed/, 'Enough.');
  expect(await ended).toBe(1);
  expect(linesOf(join(cwd, 'ran'))).toEqual(['one', 'between', 'code 80']);
});

test('with --audit-key a receipt for another request, or one that is too old, runs nothing', async () => {
  const { privatePem, publicPem } = createKeyPair();
  const signingKey = await readSigningKey({ text: privatePem });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'audit.pub'), publicPem);
  const hour = 3_600;
  for (const { ask, endsIn } of [
    { ask: 'C0GENERAL1-another', endsIn: hour },
    { ask: 'C0GENERAL1-this', endsIn: -hour },
  ]) {
    let starts = 0;
    // Somebody who pretends to be the bot, and has seen a receipt for the same command.
    const COUNTERSIGN_URL = await serve(async (incoming, outgoing) => {
      if (incoming.url?.endsWith('/start')) starts += 1;
      if (incoming.url !== '/v1/asks') return outgoing.end('{}');
      const { report_within, ...given } = JSON.parse(await readText(incoming));
      const action = ExactAction.parse(given);
      const times = {
        iat: Math.floor(Date.now() / 1_000) - 2 * hour,
        exp: Math.floor(Date.now() / 1_000) + endsIn,
      };
      const approved = { aud: 'release-pipeline', policy: 'release', decision: 'approved' as const };
      const digest = actionDigest(action);
      const receipt = await signReceipt(
        { ...approved, ask, digest, approvers: [], v: 1, ...times },
        signingKey,
      );
      const view = {
        id: 'C0GENERAL1-this',
        status: 'approved',
        action,
        digest,
        decisions: [],
        context: [],
        receipt,
      };
      outgoing.writeHead(202, { 'content-type': 'application/json' });
      return outgoing.end(JSON.stringify(view));
    });
    const args = [
      'ask',
      '--policy',
      'release',
      '--audit-key',
      'audit.pub',
      '--',
      'sh',
      '-c',
      'echo once >> ran',
    ];
    const shell = countersign({ bot: () => ({ port: 9 }) }, args, { cwd, environment: { COUNTERSIGN_URL } });
    expect(await shell.ended).toBe(85);
    expect(shell.error()).toContain('The receipt is for another request, or too old.');
    expect(starts).toBe(0);
    expect(linesOf(join(cwd, 'ran'))).toEqual([]);
  }
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
