import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toJson } from '../../src/agent/json.ts';
import { feedbackIn } from '../../src/store/documents/feedback.ts';
import { Keys, threadOf } from '../../src/store/port/keys.ts';
import { readableName } from '../../src/tools/presentation/formats.ts';
import { approve, ask, beginTurn, newRequest, newThreadId, reject, suspendTurn } from '../store/support.ts';
import { presentedAs } from '../support/presented-as.ts';
import { eachWithRecord, jsonLines, newFolder } from './support.ts';

const here = eachWithRecord();

const runHere = (...argv: string[]) => here.run(argv);

/** The part of a request's call that a list shows. */
function details(name: string, input: object) {
  const interrupt = toJson({ id: 'i', toolRequest: { name, ref: 'r', input } });
  return { interrupt, idempotencyKey: 'k', presented: presentedAs(readableName(name)) };
}

describe('stats', () => {
  test('says so when nothing was decided', async () => {
    expect(await runHere('stats')).toEqual({ code: 0, out: 'No decisions yet.\n', error: '' });
  });

  test('prints the approval rate and the median time of each policy', async () => {
    const audit = { policy_name: 'finance' };
    await here.store.vote(await ask(here.store, { audit }), approve('U-ann'));
    await here.store.vote(await ask(here.store, { audit }), reject('U-ann'));
    await ask(here.store, { audit });
    expect(jsonLines((await runHere('stats', '--json')).out)).toEqual([
      {
        policy: 'finance',
        requests: 3,
        approved: 1,
        rejected: 1,
        expired: 0,
        approvalRate: 0.5,
        medianSeconds: expect.any(Number),
      },
    ]);
    expect((await runHere('stats')).out).toMatch(
      /^finance {2}3 requests, 50% approved, decided in [\d.]+ s \(median\)\n$/,
    );
  });
});

test('stats also prints what people think of the answers in each channel', async () => {
  const threadId = threadOf(await ask(here.store, { audit: {} })) ?? '';
  const [channel = ''] = threadId.split(':');
  const rate = (answer: string, person: string, verdict: 'good' | 'bad') =>
    feedbackIn(here.store).give({ threadId, answer, person, verdict });
  await rate('1', 'U-ann', 'bad');
  await rate('1', 'U-ann', 'good');
  await rate('1', 'U-ben', 'bad');
  await rate('2', 'U-ann', 'good');
  expect((await runHere('stats')).out).toBe(`No decisions yet.\nfeedback in ${channel}  2 good, 1 bad\n`);
  expect(jsonLines((await runHere('stats', '--json')).out)).toEqual([{ feedback: channel, good: 2, bad: 1 }]);
});

describe('usage', () => {
  const spend = (threadId: string, person: string, model: string) =>
    here.store.spend({
      callId: `${threadId}.1`,
      threadId,
      person,
      channel: 'C1',
      model,
      usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120, cachedTokens: 30, reasoningTokens: 10 },
    });

  test('says that nothing was spent, and that is no problem', async () => {
    expect(await runHere('usage')).toEqual({ code: 0, out: 'No tokens were spent.\n', error: '' });
  });

  test('lists what was spent by day, person, channel and model, or added up by some of them', async () => {
    await spend('T1', 'U-ann', 'gpt-6-luna');
    await spend('T2', 'U-ann', 'gpt-6.1-terra');
    await spend('T3', 'U-ben', 'gpt-6-luna');
    const { out } = await runHere('usage', '--json');
    expect(jsonLines(out)).toHaveLength(3);
    const day = new Date().toISOString().slice(0, 10);
    expect(jsonLines(out)).toContainEqual({
      day,
      person: 'U-ben',
      channel: 'C1',
      model: 'gpt-6-luna',
      calls: 1,
      inputTokens: 100,
      cachedTokens: 30,
      outputTokens: 20,
      reasoningTokens: 10,
    });
    const { out: table } = await runHere('usage', '--by', 'person');
    expect(table.split('\n').map((line) => line.split(/ +/))).toEqual([
      ['person', 'calls', 'input', 'cached', 'output', 'reasoning'],
      ['U-ann', '2', '200', '60', '40', '20'],
      ['U-ben', '1', '100', '30', '20', '10'],
      [''],
    ]);
  });

  test.each([
    ['--days', '0'],
    ['--days', 'many'],
    ['--by', 'team'],
  ])('does not understand %s %s', async (...argv) => {
    expect(await runHere('usage', ...argv)).toMatchObject({ code: 2, out: '' });
  });
});

describe('pending', () => {
  test('says that nothing waits, and that is no problem', async () => {
    expect(await runHere('pending')).toEqual({ code: 0, out: 'Nothing waits for people.\n', error: '' });
  });

  test('lists each request once, however many people it waits for, and leaves out what is settled', async () => {
    const waiting = await Promise.all([
      ask(here.store, { policy: { principals: ['U-ann', 'U-ben', 'S-all'] } }),
      ask(here.store, { kind: 'question' }),
    ]);
    await here.store.vote(await ask(here.store), reject('U-ann'));
    await here.store.vote(await ask(here.store), approve('U-ann'));
    const { code, out } = await runHere('pending', '--json');
    expect(code).toBe(0);
    expect(
      jsonLines(out)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...waiting].sort());
  });

  test('finds everything where there are more than two pages in one thread', async () => {
    const threadId = newThreadId();
    const policy = { principals: ['U-ann'] };
    const requests = Array.from({ length: 1010 }, () => newRequest(threadId, { policy }));
    await suspendTurn(here.store, await beginTurn(here.store, threadId), { requests });
    const { out } = await runHere('pending', '--json');
    expect(
      jsonLines(out)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(requests.map(({ id }) => id).sort());
  });

  test('prints what would run, the requester, the approvers and the deadline', async () => {
    const id = await ask(here.store, {
      details: details('refund_order', { amount: 1200 }),
      policy: { quorum: 2, principals: ['U-ann', 'U-ben'] },
    });
    await here.store.vote(id, approve('U-ann'));
    const [shown] = jsonLines((await runHere('pending', '--json')).out);
    expect(shown).toMatchObject({
      id,
      kind: 'approval',
      state: 'pending',
      tool: 'refund_order',
      input: { amount: 1200 },
      requester: 'U-rita',
      waitsFor: ['U-ann', 'U-ben'],
      approvals: 1,
      quorum: 2,
    });
    const { out } = await runHere('pending');
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['state', 'what', 'arguments', 'requested by', 'waits for', 'until', 'request'],
      [
        'approval (1 of 2)',
        'Refund order',
        '{"amount":1200}',
        'U-rita',
        'U-ann, U-ben',
        expect.any(String),
        id,
      ],
      [''],
    ]);
  });

  test('shows a terminal no character that would steer it', async () => {
    await ask(here.store, { details: details('act', { text: '\u001b[2J\u009b2J\u202Eabc' }) });
    const { out } = await runHere('pending');
    for (const steering of ['\u001b', '\u009b', '\u202e']) expect(out).not.toContain(steering);
  });

  test('names a request that cannot be read, and lists the others', async () => {
    const [good, bad] = [await ask(here.store), await ask(here.store)];
    await here.redis.client.set(new Keys(here.redis.prefix).record(bad), 'not json');
    const { code, out, error } = await runHere('pending', '--json');
    expect([code, jsonLines(out).map(({ id }) => id)]).toEqual([1, [good]]);
    expect(error).toMatch(new RegExp(`^${bad} cannot be read: `));
  });
});

describe('audit', () => {
  const subjects = ['one', 'two', 'three'];
  const noteAll = async (prefix: string) => {
    for (const subject of subjects)
      await here.store.note(`${prefix}-${subject}`, 'configured', subject, { prefix });
  };

  test('prints every row, for people and for machines', async () => {
    await noteAll('first');
    const { code, out } = await runHere('audit');
    expect([code, out.trim().split('\n').length]).toEqual([0, 3]);
    expect(out).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}configured {2}\w+ {2}\{"prefix":"first"\}\n/);
    const rows = jsonLines((await runHere('audit', '--json')).out);
    expect(rows.map(({ subject }) => subject).sort()).toEqual([...subjects].sort());
    expect(rows[0]).toMatchObject({
      event: 'configured',
      body: '{"prefix":"first"}',
      seq: expect.any(Number),
    });
  });

  test('goes on where the export before it ended, and a first time needs no file', async () => {
    const marks = join(newFolder(), 'marks.json');
    const next = () => runHere('audit', '--json', '--after', marks, '--mark', marks);
    await noteAll('first');
    expect(jsonLines((await next()).out)).toHaveLength(3);
    expect((await next()).out).toBe('');
    await here.store.note('later', 'configured', 'one', {});
    expect(jsonLines((await next()).out)).toMatchObject([{ subject: 'one', body: '{}' }]);
    expect((await next()).out).toBe('');
    expect(JSON.parse(readFileSync(marks, 'utf8'))).toMatchObject({ seq: 4 });
  });

  test('does not take a file that is missing or holds no mark for a beginning', async () => {
    const folder = newFolder();
    await noteAll('first');
    const [missing, other] = [join(folder, 'missing.json'), join(folder, 'other.json')];
    writeFileSync(other, '{"seq":1}');
    for (const file of [missing, other]) {
      const { code, out, error } = await runHere('audit', '--after', file);
      expect([code, out]).toEqual([1, '']);
      expect(error).toContain('it must be a file that --mark has written');
    }
  });

  test('verify finds nothing in a whole log, and counts its rows', async () => {
    await noteAll('first');
    expect(await runHere('audit', 'verify')).toEqual({
      code: 0,
      out: 'no problem found (rows: 3)\n',
      error:
        'Not proven: that nobody computed the chain anew: no key. Use --key or set AUDIT_KEY_FILE.\n' +
        'Not proven: that nobody cut the end off or put an older copy back. Use --against or --since-checkpoint.\n',
    });
  });

  test('verify ends with 1 and names the row that was removed', async () => {
    for (const index of [1, 2, 3]) await here.store.note(`note-${index}`, 'configured', 'one', { index });
    await here.redis.client.xdel(new Keys(here.redis.prefix).shared('audit'), '2-0');
    const { code, error } = await runHere('audit', 'verify');
    expect(code).toBe(1);
    expect(error).toMatch(/^row 2: removed: /);
    const json = await runHere('audit', 'verify', '--json');
    expect([json.code, jsonLines(json.out)]).toMatchObject([1, [{ ok: false, problems: [{ seq: 2 }] }]]);
  });

  test('verify shows against an earlier mark that a whole chain was written anew', async () => {
    const marks = join(newFolder(), 'marks.json');
    await noteAll('first');
    await runHere('audit', '--json', '--mark', marks);
    expect(await runHere('audit', 'verify', '--against', marks)).toMatchObject({ code: 0 });
    const keys = new Keys(here.redis.prefix);
    await here.redis.client.del(keys.shared('audit'), keys.shared('head'));
    await noteAll('forged');
    expect(await runHere('audit', 'verify')).toMatchObject({ code: 0 });
    expect(await runHere('audit', 'verify', '--against', marks)).toMatchObject({
      code: 1,
      error: expect.stringContaining('rewritten'),
    });
  });
});
