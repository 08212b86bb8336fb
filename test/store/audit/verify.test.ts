import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { linkOf, verifyChain } from '../../../src/store/record/chain-check.ts';
import { ask, beginTurn, newRequest, newThreadId, reject, suspendTurn } from '../support.ts';
import { markOf, problemsOf, rowsOf, tamper, useAuditLog, withField, writeTen } from './support.ts';

const log = useAuditLog();

describe('verify', () => {
  test('finds nothing wrong with what the store wrote', async () => {
    const { store } = log();
    for (let index = 0; index < 100; index += 1) await ask(store);
    const { rows, problems: found } = await verifyChain(store);
    expect({ rows, found }).toEqual({ rows: 100, found: [] });
  });

  test('finds nothing wrong while others go on writing', async () => {
    const { store } = log();
    await writeTen(store);
    let isVerified = false;
    const writing = (async () => {
      for (let index = 0; !isVerified; index += 1)
        await store.note(`more-${index}`, 'configured', 'manifest.yml', {});
    })();
    const results = [];
    for (let round = 0; round < 10; round += 1) results.push(await problemsOf(store));
    isVerified = true;
    await writing;
    expect(results.flat()).toEqual([]);
  });

  test.each([
    ['t', '1700000000000'],
    ['e', 'approved'],
    ['s', 'other.yml'],
    ['d', 'nothing'],
    ['b', '{"change":999}'],
    ['h', '0'.repeat(40)],
  ])('finds a row of which %s was changed', async (field, value) => {
    const { store } = log();
    await writeTen(store);
    await tamper(log(), (entries) =>
      entries.map((entry, index) =>
        index === 4 ? { ...entry, fields: withField(entry.fields, field, value) } : entry,
      ),
    );
    expect(await problemsOf(store)).toContainEqual(
      expect.objectContaining({
        seq: 5,
        problem: 'changed',
        message: expect.stringContaining('row 5'),
      }),
    );
  });

  test('finds a row that lacks a part', async () => {
    const { store } = log();
    await writeTen(store);
    await tamper(log(), (entries) =>
      entries.map((entry, index) => (index === 4 ? { ...entry, fields: entry.fields.slice(2) } : entry)),
    );
    expect(await problemsOf(store)).toMatchObject([{ seq: 5, problem: 'changed' }]);
  });

  test('finds a row that was removed', async () => {
    const { store, redis, keys } = log();
    await writeTen(store);
    await redis.client.xdel(keys.shared('audit'), '7-0');
    expect(await problemsOf(store)).toEqual([{ seq: 7, problem: 'removed', message: 'row 7 is missing' }]);
  });

  test('finds several rows that were removed, and the first', async () => {
    const { store, redis, keys } = log();
    await writeTen(store);
    const key = keys.shared('audit');
    await redis.client.xdel(key, '1-0', '4-0', '5-0', '6-0');
    expect((await problemsOf(store)).map(({ message }) => message)).toEqual([
      'row 1 is missing',
      'rows 4 to 6 are missing',
    ]);
  });

  test('finds rows that changed places', async () => {
    const { store } = log();
    await writeTen(store);
    await tamper(log(), (entries) =>
      entries.map((entry, index) => {
        const other = index === 2 ? entries[7] : index === 7 ? entries[2] : undefined;
        return { ...entry, fields: (other ?? entry).fields };
      }),
    );
    const found = await problemsOf(store);
    expect(found).toContainEqual(expect.objectContaining({ seq: 3, problem: 'moved' }));
    expect(found).toContainEqual(expect.objectContaining({ seq: 8, problem: 'moved' }));
  });

  test('finds a row that was put in between', async () => {
    const { store } = log();
    await writeTen(store);
    await tamper(log(), (entries) =>
      entries.flatMap((entry) => (entry.id === '5-0' ? [entry, { ...entry, id: '5-1' }] : [entry])),
    );
    expect(await problemsOf(store)).toMatchObject([{ seq: 5, problem: 'changed' }]);
  });

  test('finds that the end was cut off', async () => {
    const { store } = log();
    await writeTen(store);
    await tamper(log(), (entries) => entries.slice(0, 6));
    expect(await problemsOf(store)).toEqual([
      {
        seq: 7,
        problem: 'cut-off',
        message: 'the log ends at row 6, but 10 were written',
      },
    ]);
  });

  test('finds with the marks of an export a chain that was written anew and fits in itself', async () => {
    const { store, redis, keys } = log();
    await writeTen(store);
    const mark = markOf(await rowsOf(store));
    let before = '';
    await tamper(log(), (entries) =>
      entries.map((entry, index) => {
        const body = index === 4 ? '{"change":999}' : (entry.fields[9] ?? '');
        const row = { v: 1, seq: index + 1, at: Number(entry.fields[1]), event: 'configured' };
        before = linkOf({ ...row, subject: 'manifest.yml', detail: '', body }, before);
        return { ...entry, fields: withField(withField(entry.fields, 'b', body), 'h', before) };
      }),
    );
    await redis.client.hset(keys.shared('head'), 'hash', before);
    expect(await problemsOf(store), 'the chain alone does not tell').toEqual([]);
    expect(await problemsOf(store, [mark])).toMatchObject([{ seq: 10, problem: 'rewritten' }]);
  });

  test('finds with the marks of an export that a whole log is gone', async () => {
    const { store, redis, keys } = log();
    await writeTen(store);
    const mark = markOf(await rowsOf(store));
    await redis.client.del(keys.shared('audit'), keys.shared('head'));
    expect(await problemsOf(store, [mark])).toMatchObject([{ seq: 10, problem: 'cut-off' }]);
  });

  test('says of the first row of a later version that a newer program has to verify it', async () => {
    const { store, redis, keys } = log();
    await writeTen(store);
    let before = '';
    await tamper(log(), (entries) =>
      entries.map((entry, index) => {
        const v = index < 7 ? 1 : 2;
        const row = { v, seq: index + 1, at: Number(entry.fields[1]), event: 'configured' };
        before = linkOf({ ...row, subject: 'manifest.yml', detail: '', body: entry.fields[9] ?? '' }, before);
        return { ...entry, fields: withField(withField(entry.fields, 'v', String(v)), 'h', before) };
      }),
    );
    await redis.client.hset(keys.shared('head'), 'hash', before);
    expect(await problemsOf(store)).toEqual([
      {
        seq: 8,
        problem: 'newer',
        message: 'row 8 has version 2, and this Countersign reads versions up to 1; verify with a newer one',
      },
    ]);
  });

  test('computes the chain as the scripts do, whatever is said', async () => {
    const { store } = log();
    const threadId = newThreadId();
    const id = newRequest(threadId);
    await suspendTurn(store, await beginTurn(store, threadId), { requests: [id] });
    await store.vote(id.id, reject('U-ann', { reason: 'naïve\n\u{1F600}\u0000 "quoted"' }));
    expect(await problemsOf(store)).toEqual([]);
    const [first] = await rowsOf(store);
    if (first === undefined) throw new Error('The log is empty');
    const digest = createHash('sha256').update(first.body).digest('hex');
    const link = ['', 1, 1, first.at, 'asked', id.id, 'approval', digest].join('\n');
    expect(first.hash).toBe(createHash('sha1').update(link).digest('hex'));
  });
});
