import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toJson } from '../../src/agent/json.ts';
import { LOCK_FILE } from '../../src/tools/manifest/tool-lock.ts';
import { ask, askAndStart } from '../store/support.ts';
import { presentedAs } from '../support/presented-as.ts';
import { eachWithRecord, GOOD, jsonLines, newFolder, run, writeManifest } from './support.ts';

const here = eachWithRecord();

const WHY = ['--reason', 'Refunds go wrong.', '--as', 'ann'];
const TOOLS = `tools:
  refund_order: { description: Refunds., http: { method: POST, url: "https://shop.example.com/refunds" } }
  crm: { mcp: { command: node } }
`;

/** Runs a command beside a manifest with an HTTP tool and a locked server. */
function runHere(...argv: string[]) {
  const folder = newFolder();
  const MANIFEST = writeManifest(GOOD.replace('tools: {}\n', TOOLS), folder);
  writeFileSync(
    join(folder, LOCK_FILE),
    JSON.stringify({ version: 1, servers: { crm: { update_contact: 'x' } } }),
  );
  return here.run(argv, { MANIFEST });
}

const frozen = async () => (await here.store.readFreezes()).freezes.map(({ scope }) => scope);

test('a mistyped tool is not frozen, and the right one is suggested', async () => {
  expect(await runHere('freeze', 'refund_ordr', ...WHY)).toEqual({
    code: 1,
    out: '',
    error:
      'countersign freeze: there is no tool "refund_ordr"; did you mean "refund_order"?; nothing is frozen (--force freezes it anyway)\n',
  });
  expect((await runHere('freeze', 'update_contacts', ...WHY)).error).toContain(
    'did you mean "update_contact"',
  );
  expect(await frozen()).toEqual([]);
});

test('a tool of the manifest, of its lock file or of a waiting request is frozen, and by force any', async () => {
  const details = {
    interrupt: toJson({ id: 'i', toolRequest: { name: 'old_tool', ref: 'r', input: {} } }),
    idempotencyKey: 'k',
    presented: presentedAs('Old tool'),
  };
  await ask(here.store, { details });
  for (const tool of ['refund_order', 'update_contact', 'old_tool'])
    expect(await runHere('freeze', tool, ...WHY)).toMatchObject({ code: 0, error: '' });
  expect(await runHere('freeze', 'gone_tool', '--force', ...WHY)).toMatchObject({ code: 0 });
  expect((await frozen()).sort()).toEqual(['gone_tool', 'old_tool', 'refund_order', 'update_contact']);
});

test('without a manifest all tools can be frozen', async () => {
  const environment = { REDIS_URL: here.redis.url, MANIFEST: '/nowhere/manifest.yml' };
  expect(await run(['freeze', ...WHY], environment, here.redis.prefix)).toMatchObject({ code: 0 });
  expect(await frozen()).toEqual(['*']);
});

test('a name is no id of a person to erase, and nothing is put on record', async () => {
  expect(await runHere('erase', 'remi')).toMatchObject({
    code: 2,
    out: '',
    error: expect.stringContaining('"remi" is not the id of a person, such as U012ABCDEF'),
  });
  expect(await runHere('erase', 'U0NOBODY99')).toEqual({
    code: 0,
    out: 'nothing of U0NOBODY99 is on record, so nothing was removed\n',
    error: '',
  });
  expect((await runHere('audit', '--json')).out).toBe('');
  expect(await runHere('erase', 'U0NOBODY99', '--force')).toMatchObject({ code: 0 });
  expect((await runHere('audit', '--json')).out).toContain('erased');
});

test('lists that are empty say so', async () => {
  for (const [command, text] of [
    ['pending', 'Nothing waits for people.\n'],
    ['threads', 'No thread is quarantined.\n'],
    ['delegations', 'Nobody decides for anybody else.\n'],
    ['usage', 'No tokens were spent.\n'],
    ['audit', 'The audit log has no such row.\n'],
  ] as const) {
    expect(await runHere(command)).toEqual({ code: 0, out: text, error: '' });
    expect(await runHere(command, '--json')).toEqual({ code: 0, out: '', error: '' });
  }
});

test('what has started is shown with its start, its attempts and its key, and not as ended', async () => {
  const details = {
    interrupt: toJson({ id: 'i', toolRequest: { name: 'refund_order', ref: 'r', input: {} } }),
    idempotencyKey: 'key-7',
    presented: presentedAs('Refund order'),
  };
  const requestId = await askAndStart(here.store, { details });
  const { out } = await runHere('show', requestId);
  expect(out).toMatch(/^started at +\d{4}-\d\d-\d\dT/m);
  expect(out).toMatch(/^attempts +1 of \d+$/m);
  expect(out).toMatch(/^idempotency key +key-7$/m);
  expect(out).not.toMatch(/^ended/m);
  const [shown] = jsonLines((await runHere('show', requestId, '--json')).out);
  expect(shown).toMatchObject({ idempotencyKey: 'key-7', startedAt: [expect.any(String)], settledAt: null });
});
