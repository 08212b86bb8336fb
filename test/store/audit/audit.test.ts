import { describe, expect, test } from 'vitest';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { actor, approve, ask, askAndLose, attempt, outcome, reject, withdrawal } from '../support.ts';
import { markOf, problemsOf, rowsOf, useAuditLog, writeTen } from './support.ts';

const log = useAuditLog();

describe('the audit log', () => {
  test('has a row for all that happened to an approval, with who, when, what and the policy as it was', async () => {
    const { store } = log();
    const before = Date.now();
    const id = await ask(store, { policy: { quorum: 2 } });
    await store.vote(id, approve('U-eve', { eligible: false, evidence: { group: 'none' } }));
    await store.vote(id, approve('U-ann', { evidence: { group: 'S-finance' } }));
    await store.vote(id, approve('U-ben'));
    await store.start(id, attempt('first'));
    await store.finish(id, outcome('first'));
    const rows = await rowsOf(store);
    expect(rows.map(({ event, detail }) => [event, detail])).toEqual([
      ['asked', 'approval'],
      ['refused', 'not-eligible U-eve'],
      ['voted', 'approve U-ann 1 of 2'],
      ['voted', 'approve U-ben 2 of 2'],
      ['approved', '2 of 2'],
      ['started', 'try 1 first'],
      ['succeeded', 'first'],
    ]);
    for (const { subject, at } of nonEmpty(rows)) {
      expect(subject).toBe(id);
      expect(at).toBeGreaterThanOrEqual(before - 1000);
    }
    const bodies = rows.map(({ body }) => (body === '' ? undefined : JSON.parse(body)));
    expect(bodies[0]).toMatchObject({ requester: 'U-rita', digest: 'digest-1', policy: { quorum: 2 } });
    expect(bodies[1]).toMatchObject({ who: 'U-eve', evidence: { group: 'none' } });
    expect(bodies[2]).toMatchObject({ who: 'U-ann', decision: 'approve', evidence: { group: 'S-finance' } });
    expect(bodies[5]).toMatchObject({ attempt: 'first', digest: 'digest-1' });
  });

  test('has a row for every other way in which a request ends or goes on', async () => {
    const { store } = log();
    const row = { id: 'notice', body: {} };
    const rejected = await ask(store);
    await store.vote(rejected, reject('U-ann'));
    const expired = await ask(store, { policy: { expiresInMs: 0 } });
    await store.end(expired, { state: 'expired' });
    const withdrawn = await ask(store);
    await store.end(withdrawn, withdrawal('U-rita', 'a mistake'));
    const superseded = await ask(store);
    await store.vote(superseded, approve('U-ann'));
    await store.start(superseded, attempt('first', { digest: 'digest-2' }));
    const escalated = await ask(store, { policy: { escalate: { afterMs: 0, to: ['U-boss'] } } });
    await store.notify(escalated, 'escalate', { row });
    const answered = await ask(store, { kind: 'question' });
    await store.answer(answered, actor('U-ann'), 'blue');
    const resolved = await askAndLose(store);
    await store.resolve(resolved, actor('U-ops'), 'ran', 'I looked');
    await store.finish(resolved, outcome('first'));
    const retried = await askAndLose(store, { execution: { idempotent: true } });
    const abandoned = await ask(store);
    await store.end(abandoned, { state: 'failed', reason: 'no channel' });
    const events = new Map<string, string[]>();
    for (const { subject, event } of await rowsOf(store))
      events.set(subject, [...(events.get(subject) ?? []), event]);
    expect(events.get(rejected)).toEqual(['asked', 'voted', 'rejected']);
    expect(events.get(expired)).toEqual(['asked', 'expired']);
    expect(events.get(withdrawn)).toEqual(['asked', 'withdrawn']);
    expect(events.get(superseded)).toEqual(['asked', 'voted', 'approved', 'superseded']);
    expect(events.get(escalated)).toEqual(['asked', 'escalated']);
    expect(events.get(answered)).toEqual(['asked', 'answered']);
    expect(events.get(abandoned)).toEqual(['asked', 'abandoned']);
    const run = ['asked', 'voted', 'approved', 'started'];
    expect(events.get(resolved)).toEqual([...run, 'unknown', 'resolved', 'late']);
    expect(events.get(retried)).toEqual([...run, 'retried']);
  });

  test('has a row for every click that comes too late or changes its mind too late, and one only for a resend', async () => {
    const { store } = log();
    const id = await ask(store, { policy: { vetoes: 2 } });
    await store.vote(id, reject('U-ann'));
    const again = approve('U-ann');
    const stands = { outcome: 'already-voted', decision: 'reject' };
    expect(await store.vote(id, again)).toEqual(stands);
    expect(await store.vote(id, again)).toEqual(stands);
    await store.vote(id, reject('U-ben'));
    await store.vote(id, approve('U-cid'));
    await store.end(id, withdrawal('U-rita'));
    const question = await ask(store, { kind: 'question' });
    await store.answer(question, actor('U-ann'), 'blue');
    await store.answer(question, actor('U-ben'), 'red');
    const [over, silent] = [{ expiresInMs: 0 }, await askAndLose(store)];
    await store.vote(await ask(store, { policy: over }), approve('U-ann'));
    await store.answer(await ask(store, { kind: 'form', policy: over }), actor('U-ann'), 1);
    await store.resolve(silent, actor('U-ops'), 'run-again', '');
    await store.resolve(silent, actor('U-ann'), 'ran', '');
    await store.end(silent, withdrawal('U-rita'));
    await store.resolve(silent, actor('U-ann'), 'ran', '');
    const refused = (await rowsOf(store)).filter(({ event }) => event === 'refused');
    expect(refused.map(({ detail }) => detail).sort()).toEqual([
      'already-voted U-ann',
      'expired U-ann',
      'expired U-ann',
      'not-unknown U-ann',
      'not-unknown U-ann',
      'settled U-ben',
      'settled U-cid',
      'settled U-rita',
      'settled U-rita',
    ]);
    expect(refused.every(({ body }) => JSON.parse(body).evidence.click !== undefined)).toBe(true);
    expect(await problemsOf(store)).toEqual([]);
  });

  test('notes a change of the configuration once, also when another note came in between', async () => {
    const { store } = log();
    await store.note('change-1', 'configured', 'manifest.yml', { sha: 'a' });
    await store.note('change-2', 'configured', 'manifest.yml', { sha: 'b' });
    await store.note('change-1', 'configured', 'manifest.yml', { sha: 'a' });
    expect((await rowsOf(store)).map(({ body }) => body)).toEqual(['{"sha":"a"}', '{"sha":"b"}']);
  });
});

describe('export', () => {
  test('goes on after a row', async () => {
    const { store } = log();
    for (let index = 0; index < 20; index += 1) await ask(store);
    const first = await rowsOf(store);
    expect(first).toHaveLength(20);
    expect(await rowsOf(store, first.length)).toEqual([]);
    const id = await ask(store);
    const rest = await rowsOf(store, first.length);
    expect(rest.map(({ subject, event }) => [subject, event])).toEqual([[id, 'asked']]);
  });

  test('reads a long log page by page, so that it also gives what was written while it went on', async () => {
    const { store } = log();
    const note = (index: number) => store.note(`note-${index}`, 'configured', 'manifest.yml', { index });
    await Promise.all(Array.from({ length: 1203 }, (_, index) => note(index)));
    const numbers: number[] = [];
    for await (const { seq } of store.exportAudit()) {
      if (numbers.length === 0) await note(1203);
      numbers.push(seq);
    }
    expect(numbers).toEqual(Array.from({ length: 1204 }, (_, index) => index + 1));
  });
});

describe('trim', () => {
  test('removes what was exported and no more, and the rest still fits', async () => {
    const { store } = log();
    await writeTen(store);
    const exported = markOf(await rowsOf(store));
    await store.note('later', 'configured', 'manifest.yml', { change: 11 });
    expect(await store.trimAudit(exported)).toEqual({ outcome: 'trimmed', rows: 10, checkpoints: 0 });
    expect((await rowsOf(store)).map(({ seq }) => seq)).toEqual([11]);
    expect(await verifyChain(store, [exported])).toEqual({ rows: 1, problems: [] });
    expect(await store.trimAudit({ seq: 4, hash: 'old' })).toEqual({
      outcome: 'trimmed',
      rows: 0,
      checkpoints: 0,
    });
    await store.note('later still', 'configured', 'manifest.yml', { change: 12 });
    expect(await verifyChain(store)).toEqual({ rows: 2, problems: [] });
  });

  test('refuses a mark that is no row of this log', async () => {
    const { store } = log();
    await writeTen(store);
    const forged = { seq: 10, hash: '0'.repeat(40) };
    expect(await store.trimAudit(forged)).toEqual({ outcome: 'not-as-exported' });
    expect(await store.trimAudit({ seq: 99, hash: '' })).toEqual({ outcome: 'not-as-exported' });
    expect(await rowsOf(store)).toHaveLength(10);
  });

  test('does not hide what was removed after it', async () => {
    const { store, redis, keys } = log();
    await writeTen(store);
    const sixth = (await rowsOf(store)).find(({ seq }) => seq === 6);
    if (sixth === undefined) throw new Error('Row 6 is missing');
    await store.trimAudit(sixth);
    await redis.client.xdel(keys.shared('audit'), '7-0');
    expect(await problemsOf(store)).toMatchObject([{ seq: 7, problem: 'removed' }]);
  });

  test('leaves a request’s own record alone', async () => {
    const { store } = log();
    const id = await ask(store);
    await store.trimAudit(markOf(await rowsOf(store)));
    expect(await store.load(id)).toMatchObject({ outcome: 'found' });
  });
});
