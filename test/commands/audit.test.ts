import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { approveRefund, eventually, openAuditWorld } from '../audit/support.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { startManifestApi } from './slack-server.ts';
import { jsonLines, newFolder, run } from './support.ts';

const RITA = 'U012RITA01';
const ANN = 'U012ANNA01';
const refund = {
  requester: RITA,
  audit: { tool: 'refund_order', title: 'Refund order', arguments: { amount: 1200 } },
};
const deletion = { ...refund, audit: { ...refund.audit, tool: 'delete_customer', title: 'Delete customer' } };

async function listed() {
  const world = await openAuditWorld();
  const { redis } = world;
  const list = (...argv: string[]) => run(['audit', ...argv], { REDIS_URL: redis.url }, redis.prefix);
  return { ...world, list };
}

test('the audit log is listed in the order of time', async () => {
  const { store, list } = await listed();
  const ids: string[] = [];
  for (let index = 0; index < 12; index += 1) ids.push(await approveRefund(store, refund));
  const rows = jsonLines((await list('--json')).out);
  const times = rows.map(({ at }) => Number(at));
  expect(times).toEqual(times.toSorted((left, right) => left - right));
  const asked = rows.filter(({ event }) => event === 'asked').map(({ subject }) => subject);
  expect(asked).toEqual(ids);
});

test('every row of a request names its tool, and people are ids without a token for Slack', async () => {
  const { store, list } = await listed();
  await approveRefund(store, refund);
  const lines = (await list()).out.trim().split('\n');
  expect(lines).toHaveLength(5);
  for (const line of nonEmpty(lines)) expect(line).toContain('  Refund order  ');
  expect(lines[0]).toContain(`asked  Refund order  ${RITA}  `);
  expect(lines[0]).toContain('"arguments":{"amount":1200}');
});

test('people are shown by name where Slack can be asked', async () => {
  const { store, redis } = await listed();
  await approveRefund(store, refund);
  const slack = await startManifestApi({
    'users.info': { body: { ok: true, user: { name: 'rita', real_name: 'Rita Requester' } } },
  });
  const environment = { REDIS_URL: redis.url, SLACK_BOT_TOKEN: 'xoxb-1', SLACK_API_URL: slack.url };
  const { out } = await run(['audit'], environment, redis.prefix);
  expect(out).toContain('asked  Refund order  Rita Requester  ');
  const byName = await run(['audit', '--person', 'rita requester'], environment, redis.prefix);
  expect(byName.out.trim().split('\n')).toHaveLength(1);
});

test('filters choose rows by time, tool, person and request', async () => {
  const { store, list } = await listed();
  const first = await approveRefund(store, refund);
  const rows = jsonLines((await list('--json')).out);
  const cut = new Date(Number(rows.at(-1)?.at) + 1).toISOString();
  await eventually(() => expect(new Date().toISOString() > cut).toBe(true));
  const second = await approveRefund(store, { ...deletion, requester: ANN });
  const subjects = async (...argv: string[]) => {
    const found = jsonLines((await list('--json', ...argv)).out);
    return [...new Set(found.map(({ subject }) => subject))];
  };
  expect(await subjects('--until', cut)).toEqual([first]);
  expect(await subjects('--since', cut)).toEqual([second]);
  expect(await subjects('--since', '1h')).toEqual([first, second]);
  expect(await subjects('--tool', 'refund_order')).toEqual([first]);
  expect(await subjects('--tool', 'delete customer')).toEqual([second]);
  expect(await subjects('--person', ANN)).toEqual([second]);
  expect(await subjects('--request', first)).toEqual([first]);
  expect(await list('--since', 'yesterday')).toMatchObject({ code: 2 });
});

test('--follow prints rows as they are written, until it is stopped', async () => {
  const { store, redis } = await listed();
  await store.note('first', 'configured', 'one', {});
  const stop = new AbortController();
  let out = '';
  const following = runCommandLine(['audit', '--follow', '--json'], {
    environment: { REDIS_URL: redis.url },
    prefix: redis.prefix,
    signal: stop.signal,
    write: async (text) => {
      out += text;
    },
    writeError: async () => {},
  });
  await eventually(() => expect(jsonLines(out)).toHaveLength(1));
  await store.note('second', 'configured', 'two', {});
  await eventually(() => expect(jsonLines(out)).toMatchObject([{ subject: 'one' }, { subject: 'two' }]));
  stop.abort();
  expect(await following).toBe(0);
});

test('what "audit --json --checkpoints" prints can be verified offline', async () => {
  const { store, list, exportOnce, file, publicKeyFile } = await listed();
  await approveRefund(store, refund);
  await exportOnce();
  const { out } = await list('--json', '--checkpoints');
  expect(out).toBe(readFileSync(file, 'utf8'));
  expect(await run(['audit', 'verify', '--file', file, '--key', publicKeyFile])).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^no problem found \(rows: 5, checkpoints: 1, signed until \S+Z\)\nlast checkpoint 1:[0-9a-f]{64}\n$/,
    ),
    error: 'Not proven: that nobody cut the end off. Use --since-checkpoint.\n',
  });
});

test('"audit key" makes a pair, prints the public key and never replaces a file', async () => {
  const file = join(newFolder(), 'key.pem');
  const made = await run(['audit', 'key', file]);
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----/) });
  expect(made.out).not.toContain('PRIVATE');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await run(['audit', 'key', '--public'], { AUDIT_KEY_FILE: file })).toMatchObject({ out: made.out });
  const pem = readFileSync(file, 'utf8');
  const base64 = pem.replaceAll(/-----[^-]+-----|\s/g, '');
  for (const text of [pem, pem.replaceAll('\n', '\\n'), base64])
    expect(await run(['audit', 'key', '--public'], { AUDIT_KEY: text })).toMatchObject({ out: made.out });
  expect(await run(['audit', 'key', file])).toMatchObject({
    code: 1,
    error: expect.stringContaining('exists'),
  });
  expect(readFileSync(file, 'utf8')).toBe(pem);
  expect(existsSync('audit-key.pem')).toBe(false);
  const wrong = await run(['audit', 'key', '--public'], { AUDIT_KEY: 'no key at all' });
  expect(wrong).toMatchObject({ code: 1, error: expect.stringContaining('AUDIT_KEY holds no Ed25519') });
  expect(wrong.error).not.toContain('no key at all');
});
