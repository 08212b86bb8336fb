import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkpointText, hashOf, parseCheckpoint, signCheckpoint } from '../../src/audit/checkpoint.ts';
import { startExporter } from '../../src/audit/exporter.ts';
import { fileMemory } from '../../src/audit/signer.ts';
import { createKeyPair, readSigningKey } from '../../src/audit/signing-key.ts';
import { sha256, verifyChain } from '../../src/store/record/chain-check.ts';
import { jsonLines, run, writeKey } from '../commands/support.ts';
import { ask } from '../store/support.ts';
import {
  type AuditWorld,
  allRows,
  approveRefund,
  backUp,
  linesOf,
  openAuditWorld,
  rewriteLog,
} from './support.ts';

const MINUTE_MS = 60_000;

/** Verifies the log in Redis, and returns what it finds. */
async function verifyRedis(
  { redis, publicKeyFile }: AuditWorld,
  ...more: string[]
): Promise<Record<string, unknown>> {
  const argv = ['audit', 'verify', '--json', '--key', publicKeyFile, ...more];
  const { code, out } = await run(argv, { REDIS_URL: redis.url }, redis.prefix);
  return { code, ...jsonLines(out)[0] };
}

/** Verifies an export without Redis, and returns what it finds. */
async function verifyFile({ file, publicKeyFile }: AuditWorld, ...more: string[]) {
  const { code, out } = await run([
    'audit',
    'verify',
    '--json',
    '--file',
    file,
    '--key',
    publicKeyFile,
    ...more,
  ]);
  return { code, ...jsonLines(out)[0] };
}

async function worldWithRefunds(count = 3): Promise<AuditWorld> {
  const world = await openAuditWorld();
  for (let index = 0; index < count; index += 1) await approveRefund(world.store);
  await world.exportOnce();
  return world;
}

function changeLines(file: string, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  writeFileSync(file, `${change(lines).join('\n')}\n`);
}

test('a log that nobody touched is whole, in Redis and in the export', async () => {
  const world = await worldWithRefunds();
  const whole = { code: 0, ok: true, rows: 15, checkpoints: 1, problems: [] };
  expect(await verifyRedis(world)).toMatchObject(whole);
  expect(await verifyRedis(world, '--against', world.file)).toMatchObject(whole);
  expect(await verifyFile(world)).toMatchObject(whole);
});

test('a signer who was replaced in Redis, with a chain computed anew, is found', async () => {
  const world = await worldWithRefunds();
  await rewriteLog(world, (text) => text.replaceAll('U-ann', 'U-eve'));
  expect((await verifyChain(world.store)).problems, 'the chain alone does not tell').toEqual([]);
  expect(await verifyRedis(world)).toMatchObject({ code: 1, problems: [{ seq: 15, problem: 'rewritten' }] });
});

test('a log that was deleted from Redis is missed', async () => {
  const world = await worldWithRefunds();
  const { redis, keys, store } = world;
  await redis.client.del(keys.shared('audit'), keys.shared('head'));
  expect((await verifyChain(store)).problems, 'the chain alone does not tell').toEqual([]);
  expect(await verifyRedis(world)).toMatchObject({
    code: 1,
    problems: [{ seq: 15, problem: 'cut-off' }],
  });
});

test('a checkpoint that was removed from Redis is missed', async () => {
  const world = await worldWithRefunds();
  for (let round = 0; round < 2; round += 1) {
    await approveRefund(world.store);
    await world.exportOnce();
  }
  const checkpoints = world.keys.shared('checkpoints');
  await world.redis.client.xdel(checkpoints, '2-0');
  expect(await verifyRedis(world)).toMatchObject({
    code: 1,
    problems: [{ checkpoint: 2, problem: 'missing', message: 'checkpoint 2 is missing' }],
  });
  await world.redis.client.xdel(checkpoints, '3-0');
  expect(await verifyRedis(world, '--against', world.file)).toMatchObject({
    code: 1,
    problems: [{ checkpoint: 2 }, { checkpoint: 3, problem: 'missing' }],
  });
});

test('rows that no checkpoint covers for long are told, also when all checkpoints are gone', async () => {
  const world = await worldWithRefunds(1);
  const longAgo = Date.now() - 10 * MINUTE_MS;
  const key = world.keys.shared('audit');
  const entries = await world.redis.client.xrange(key, '-', '+');
  await world.redis.client.del(key, world.keys.shared('checkpoints'));
  for (const [id, [, , ...fields]] of entries)
    await world.redis.client.xadd(key, id, 't', longAgo, ...fields);
  await rewriteLog(world, (text) => text);
  expect(await verifyRedis(world)).toMatchObject({
    code: 1,
    problems: [{ checkpoint: 1, problem: 'unsigned-rows' }],
  });
});

test('a checkpoint that was changed, or signed by another key, is found', async () => {
  const world = await worldWithRefunds();
  const stored = (await world.store.auditEnds()).checkpoint;
  const genuine = parseCheckpoint(stored?.text ?? '');
  if (genuine === undefined) throw new Error('There is no checkpoint');
  const { v: _v, keyId: _keyId, signature: _signature, ...fields } = genuine;
  const checkpoints = world.keys.shared('checkpoints');
  const replace = async (text: string) => {
    await world.redis.client.del(checkpoints);
    await world.redis.client.xadd(checkpoints, '1-0', 'h', sha256(text), 'b', text);
  };
  await replace(checkpointText({ ...genuine, at: genuine.at - 1 }));
  expect(await verifyRedis(world)).toMatchObject({
    code: 1,
    problems: [{ checkpoint: 1, problem: 'changed' }],
  });
  const other = await readSigningKey({
    file: writeKey(world.folder, 'other.pem', createKeyPair().privatePem),
  });
  const forged = signCheckpoint(fields, other);
  expect(hashOf(forged)).not.toBe(hashOf(genuine));
  await replace(checkpointText(forged));
  expect(await verifyRedis(world)).toMatchObject({ code: 1, problems: [{ problem: 'unknown-key' }] });
});

test('nothing is signed over a log that was rewritten, and the log of the bot says so', async () => {
  const world = await worldWithRefunds(1);
  const rows = await allRows(world.store);
  const [{ subject = '' } = {}] = rows;
  await rewriteLog(world, (text) => text.replaceAll('U-ann', 'U-eve'));
  await world.store.end(subject, { state: 'superseded', reason: '' });
  await world.store.note('more', 'configured', subject.split('~')[0] ?? '', {});
  await world.exportOnce();
  expect(world.logged).toContainEqual({
    level: 'error',
    message: 'audit log is not signed: it does not continue what was signed',
  });
  expect((await world.store.auditEnds()).checkpoint).toMatchObject({ n: 1 });
  expect(world.refusals).toEqual(['log-changed']);
  expect(await verifyRedis(world)).toMatchObject({ code: 1, problems: [{ seq: 5, problem: 'rewritten' }] });
});

test.each([
  [
    'a changed signer',
    (lines: string[]) =>
      lines.map((line) => (line.includes('"voted"') ? line.replaceAll('U-ann', 'U-eve') : line)),
    'changed',
  ],
  ['a removed row', (lines: string[]) => lines.filter((_, index) => index !== 1), 'removed'],
  [
    'removed rows at the end',
    (lines: string[]) => lines.filter((_, index) => index !== lines.length - 2),
    'cut-off',
  ],
  [
    'a swapped order',
    ([first = '', second = '', third = '', ...rest]: string[]) => [first, third, second, ...rest],
    'moved',
  ],
  [
    'removed checkpoints',
    (lines: string[]) => lines.filter((line) => !line.includes('"checkpoint"')),
    'missing',
  ],
  ['a line that is something else', (lines: string[]) => [...lines, 'nonsense'], 'unreadable'],
])('%s is found in an export, without Redis', async (_name, change, problem) => {
  const world = await worldWithRefunds();
  changeLines(world.file, change);
  const verified = await verifyFile(world);
  expect(verified.code).toBe(1);
  expect(verified).toMatchObject({ ok: false });
  expect(JSON.stringify(verified)).toContain(`"problem":"${problem}"`);
});

test('a row that keeps its SHA-1 and changes its contents would still be found, by the signed SHA-256', async () => {
  const { store } = await worldWithRefunds(1);
  const genuine = parseCheckpoint((await store.auditEnds()).checkpoint?.text ?? '');
  if (genuine === undefined) throw new Error('There is no checkpoint');
  expect((await verifyChain(store, [genuine])).problems).toEqual([]);
  const other = { ...genuine, sha256: '0'.repeat(64) };
  expect((await verifyChain(store, [other])).problems).toMatchObject([{ seq: 5, problem: 'rewritten' }]);
});

test('an export that repeats rows, as a resent batch does, is whole', async () => {
  const world = await worldWithRefunds();
  changeLines(world.file, (lines) => [...lines.slice(0, 4), ...lines]);
  expect(await verifyFile(world)).toMatchObject({ code: 0, rows: 15 });
});

test('a restored log names the requests that are missing in it, by their titles', async () => {
  const world = await worldWithRefunds(1);
  const restore = await backUp(world);
  const audit = { title: 'Refund order A-7', tool: 'refund_order' };
  const half = await ask(world.store, { audit });
  await world.exportOnce();
  const id = await approveRefund(world.store, { audit });
  await world.exportOnce();
  await restore();
  const found = await verifyRedis(world, '--against', world.file);
  const lost = { title: 'Refund order A-7', requesters: ['U-rita'], at: expect.any(String) };
  expect(found).toMatchObject({
    code: 1,
    lost: [
      { ...lost, request: half, events: ['asked'] },
      { ...lost, request: id, events: ['asked', 'voted', 'approved', 'started', 'succeeded'] },
    ],
  });
  const { error } = await run(
    ['audit', 'verify', '--key', world.publicKeyFile, '--against', world.file],
    { REDIS_URL: world.redis.url },
    world.redis.prefix,
  );
  expect(error).toContain(`missing in Redis: Refund order A-7 (${id}, requested by U-rita): asked, voted`);
});

test('a rotated file is whole only as a part of the log', async () => {
  const world = await worldWithRefunds(1);
  const first = linesOf(world.file).length;
  const id = await approveRefund(world.store);
  await world.exportOnce();
  changeLines(world.file, (lines) => lines.slice(first));
  expect(linesOf(world.file).some(({ subject }) => subject === id)).toBe(true);
  expect(await verifyFile(world)).toMatchObject({ code: 1 });
  expect(await verifyFile(world, '--partial')).toMatchObject({ code: 0, rows: 5, checkpoints: 1 });
});

test('after a change of the key both public keys together verify the log, and the key it replaced signs no more', async () => {
  const world = await worldWithRefunds(1);
  const old = await readSigningKey({ file: world.privateKeyFile });
  const { privatePem, publicPem } = createKeyPair();
  const oldPublic = readFileSync(world.publicKeyFile, 'utf8');
  const both = writeKey(world.folder, 'both.pem', oldPublic + publicPem);
  await approveRefund(world.store);
  const signWith = async (pem: string) => {
    const refusals: string[] = [];
    await startExporter({
      store: world.store,
      settings: () => ({ file: world.file, http: undefined, retentionMs: undefined }),
      key: await readSigningKey({ file: writeKey(world.folder, 'new.pem', pem) }),
      memory: fileMemory(world.stateFile),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      onRefusal: ({ code }) => refusals.push(code),
    }).stop();
    return refusals;
  };
  expect(await signWith(privatePem)).toContain('unknown-key');
  expect((await world.store.auditEnds()).checkpoint).toMatchObject({ n: 1 });
  expect(await signWith(privatePem + oldPublic)).toEqual([]);
  expect(await verifyFile(world)).toMatchObject({ code: 1, problems: [{ problem: 'unknown-key' }] });
  expect(await verifyFile({ ...world, publicKeyFile: both })).toMatchObject({ code: 0, checkpoints: 2 });

  const last = parseCheckpoint((await world.store.auditEnds()).checkpoint?.text ?? '');
  if (last === undefined) throw new Error('There is no checkpoint');
  const { v: _v, keyId: _keyId, signature: _signature, ...fields } = last;
  const leaked = checkpointText(signCheckpoint({ ...fields, n: 3, previous: hashOf(last) }, old));
  const checkpoints = world.keys.shared('checkpoints');
  await world.redis.client.xadd(checkpoints, '3-0', 'h', sha256(leaked), 'b', leaked);
  expect(await verifyRedis({ ...world, publicKeyFile: both })).toMatchObject({
    code: 1,
    problems: [{ checkpoint: 3, problem: 'unknown-key' }],
  });
  expect(await signWith(privatePem + oldPublic)).toContain('not-continued');
});

test('without anything from outside Redis a check says what it cannot prove', async () => {
  const world = await worldWithRefunds(1);
  const earlier = await verifyRedis(world);
  const [first] = String(earlier.lastCheckpoint).split(':');
  expect([earlier.ok, first, earlier.notProven]).toEqual([true, '1', ['end']]);
  await approveRefund(world.store);
  await world.exportOnce();
  const { lastCheckpoint: second } = await verifyRedis(world);
  const known = String(second);
  expect(await verifyRedis(world, '--since-checkpoint', known)).toMatchObject({ code: 0, notProven: [] });
  expect(await verifyRedis(world, '--against', world.file)).toMatchObject({ code: 0, notProven: [] });
  expect(await verifyFile(world)).toMatchObject({ code: 0, notProven: ['end'] });
  expect(await verifyFile(world, '--since-checkpoint', known)).toMatchObject({ code: 0, notProven: [] });

  // An older copy of the log has nothing wrong in itself.
  const { redis, keys } = world;
  const head = (await allRows(world.store)).find(({ seq }) => seq === 5);
  await redis.client.xdel(keys.shared('checkpoints'), '2-0');
  for (const seq of [6, 7, 8, 9, 10]) await redis.client.xdel(keys.shared('audit'), `${seq}-0`);
  await redis.client.hset(keys.shared('head'), { seq: 5, hash: head?.hash ?? '' });
  expect(await verifyRedis(world)).toMatchObject({ code: 0, notProven: ['end'] });
  expect(await verifyRedis(world, '--since-checkpoint', known)).toMatchObject({
    code: 1,
    problems: [{ checkpoint: 2, problem: 'missing' }],
  });
  expect(await verifyRedis(world, '--against', world.file)).toMatchObject({ code: 1 });
  const argv = ['audit', 'verify', '--json'];
  const byState = await run(
    argv,
    { REDIS_URL: redis.url, AUDIT_KEY_FILE: world.privateKeyFile },
    redis.prefix,
  );
  expect([byState.code, jsonLines(byState.out)[0]]).toMatchObject([1, { notProven: [] }]);
  changeLines(world.file, (lines) => lines.slice(0, 6));
  expect(await verifyFile(world, '--since-checkpoint', known)).toMatchObject({ code: 1 });
  for (const wrong of ['2', '2:abc', known.replace(':', '-')])
    expect(await run([...argv, '--since-checkpoint', wrong, '--key', world.publicKeyFile])).toMatchObject({
      code: 2,
    });
});
