import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { asked, denied, MINUTE_MS, ran, START, type Written, writeExport } from './logged-calls.ts';
import { GOOD, newFolder, run, writeManifest } from './support.ts';

const manifestWith = (rules: string, rest = '') => `${GOOD.replace(/policies:[\s\S]*$/, '')}
policies:
  default: { approvers: [S0APPROVE1] }
  others: { approvers: { all: [{ any: [S0FINANCE1] }, { any: [S0SECURIT1] }], not: [U0TREASURE] } }
  owner: { approvers: { from: input.owner, any: [S0APPROVE1] } }
  granting: { approvers: [S0APPROVE1], grants: { for: 1h, uses: 3, scope: requester } }
tools:
  refund:
    description: Refunds.
    input: { type: object, properties: { amount: { type: number }, owner: { type: string } }, required: [amount] }
    http: { method: POST, url: "https://example.com/refunds", body: { amount: "{{input.amount}}" } }
    approval: [${rules}]
${rest}`;

async function replay(rows: readonly Written[], manifest: string, ...more: string[]) {
  const ordered = rows.toSorted((left, right) => left.at - right.at);
  const args = ['manifest', 'replay', writeManifest(manifest), '--from', writeExport(ordered), ...more];
  const result = await run(args);
  expect(result).toMatchObject({ code: 0, error: '' });
  return result.out;
}

/** The changes that are not 0, and all else. */
async function replayed(rows: readonly Written[], manifest: string, ...more: string[]) {
  const result = JSON.parse(await replay(rows, manifest, '--json', ...more));
  const changes = Object.fromEntries(Object.entries(result.changes).filter(([, calls]) => calls !== 0));
  return { ...result, changes };
}

const at = (minutes: number) => START + minutes * MINUTE_MS;

test('calls are judged at their own time, with what limits count under the candidate in that order', async () => {
  const limit =
    'limits: { refund: { sum: input.amount, per: requester, window: 1h, max: 1000, policy: others } }';
  const rows = [
    ...ran({ at: at(0), input: { amount: 600 } }),
    // A refund that failed gives its amount back.
    ...ran({ at: at(1), input: { amount: 400 } }, 'failed'),
    ...ran({ at: at(2), input: { amount: 400 } }),
    // Over the limit of this person, not of another.
    ...ran({ at: at(3), input: { amount: 1 } }),
    ...ran({ at: at(4), input: { amount: 1000 }, requester: 'U0OTHERS01' }),
    // The window has moved on: only 1, which people would have been asked about, and ran then, counts.
    ...ran({ at: at(62.5), input: { amount: 999 } }),
    ...ran({ at: at(62.6), input: { amount: 1 } }),
  ];
  const { changes, groups } = await replayed(rows, manifestWith('{ require: never }', limit));
  expect(changes).toEqual({ asked: 2, same: 5 });
  expect(groups[0]).toMatchObject({
    change: 'asked',
    before: 'ran without approval',
    after: 'approval by 1 of S0FINANCE1 and 1 of S0SECURIT1, not U0TREASURE',
    first: { at: at(3) },
  });
});

test('a request counts from its start, one that did not run never, and the time before --since counts without being listed', async () => {
  const limit = 'limits: { refund: { per: tool, window: 1h, max: 1 } }';
  const manifest = manifestWith('{ policy: default }', limit);
  const rows = [
    ...asked({ at: at(0) }, ['rejected', 100]),
    ...asked({ at: at(1) }, ['approved', 100], ['started', 200, 'try 1 a'], ['failed', 300]),
    ...asked({ at: at(2) }, ['approved', 100], ['started', 200, 'try 1 a'], ['succeeded', 300]),
    ...asked({ at: at(3) }),
  ];
  expect((await replayed(rows, manifest)).changes).toEqual({ same: 3, denied: 1 });
  const late = await replayed(rows, manifest, '--since', new Date(at(3)).toISOString());
  expect(late).toMatchObject({ calls: 1, changes: { denied: 1 } });
});

test('conditions see the time and the counts of the call', async () => {
  const limit = 'limits: { refund: { per: tool, window: 1d, max: 100 } }';
  const rules = `{ policy: others, when: 'now.hour == 11' }, { require: never, when: 'count("refund") < 2' }, {}`;
  const rows = [0, 1, 2, 60].flatMap((minutes) => ran({ at: at(minutes) }));
  const { changes, groups } = await replayed(rows, manifestWith(rules, limit));
  expect(changes).toEqual({ same: 2, asked: 2 });
  expect(groups.map(({ after }: { after: string }) => after)).toEqual([
    'approval by 1 of S0APPROVE1',
    'approval by 1 of S0FINANCE1 and 1 of S0SECURIT1, not U0TREASURE',
    'runs without approval',
  ]);
});

test('first times are those of the log: what succeeded for a person and a target, and what failed is none', async () => {
  const text = manifestWith(`{ policy: default, when: 'first.pair' }, { require: never }`).replace(
    '    approval:',
    '    target: "{{input.owner}}"\n    approval:',
  );
  const to = (owner: string) => ({ input: { amount: 1, owner } });
  const rows = [
    ...ran({ at: at(0), ...to('a@b.c') }, 'failed'),
    ...ran({ at: at(1), ...to('a@b.c') }),
    ...ran({ at: at(2), ...to('a@b.c') }),
    ...ran({ at: at(3), ...to('a@b.c'), requester: 'U0OTHERS01' }),
    ...ran({ at: at(4), ...to('d@e.f') }),
    // Longer ago than it counts.
    ...ran({ at: at(4 + 91 * 24 * 60), ...to('a@b.c') }),
  ];
  const { changes } = await replayed(rows, text);
  expect(changes).toEqual({ asked: 5, same: 1 });
});

test('a pause of the tool itself stays, an edit is asked whatever the rules say, and a continued call is no second one', async () => {
  const own = asked({ at: at(0), more: { rule: 'the tool itself asks' } });
  const edited = asked({ at: at(1), more: { rule: 'edited by U0ANYBODY1', policy_name: 'others' } });
  const paused = ran({ at: at(2), input: { amount: 7 } }, 'paused');
  const again = paused.map((row) => ({
    ...row,
    at: row.at + MINUTE_MS,
    event: row.event.replace('paused', 'succeeded'),
  }));
  const signed = asked({ at: at(4), input: { amount: 8 } }, ['approved', 1], ['started', 2, 'try 1 a']);
  const [first] = signed;
  const subject = first?.subject ?? '';
  const ended = { at: at(5), event: 'paused', subject, body: { summary: { paused: 'tool' } } };
  const resumed = ran({ at: at(6), input: { amount: 8 } }).map((row) => ({
    ...row,
    subject: subject.split('~')[0] ?? '',
  }));
  const rows = [...own, ...edited, ...paused, ...again, ...signed, ended, ...resumed];
  const { calls, changes } = await replayed(rows, manifestWith('{ require: never }'));
  expect({ calls, changes }).toEqual({ calls: 4, changes: { same: 2, approvals: 1, 'not-asked': 1 } });
});

test('what the log or the candidate does not have is said, and not guessed', async () => {
  const rows = [
    ...ran({ at: at(0), tool: 'pay' }),
    ...ran({ at: at(1), input: { amount: 5, owner: 'x [redacted]' } }),
    ...ran({ at: at(2), input: { sum: 5 } }),
    ...ran({ at: at(3), more: { granted: { grant: 'g1' } } }),
    ...asked({ at: at(4), input: { amount: 5, owner: 'a@example.com' } }),
    ...denied({ at: at(5), input: { amount: 5 } }),
    { at: at(6), event: 'denied', subject: 'C0REFUNDS1:1.1', body: { reason: 'No.' } },
    { at: at(6), event: 'asked', subject: 'C0REFUNDS1:1.1~q', detail: 'question', body: {} },
  ];
  const rules = '{ policy: owner, when: "has(input.owner)" }, { policy: granting }';
  const { calls, changes, groups, notes } = await replayed(rows, manifestWith(rules));
  expect({ calls, changes }).toEqual({ calls: 6, changes: { 'not-judged': 3, same: 2, 'not-denied': 1 } });
  const notJudged = groups.filter(({ change }: { change: string }) => change === 'not-judged');
  expect(notJudged.map(({ tool, after }: { tool: string; after: string }) => [tool, after])).toEqual([
    ['pay', 'there is no such tool'],
    ['refund', 'the log does not have its arguments'],
    ['refund', 'the tool does not accept these arguments'],
  ]);
  expect(notes).toEqual(['1 call: the row is erased or cannot be read']);
  const words = await replay(rows, manifestWith(rules));
  expect(words).toMatch(/^6 calls judged; 4 listed here\.$/m);
  expect(words).toMatch(/^ +1 {2}cannot be judged +pay +ran without approval +there is no such tool +20/m);
  expect(words).toMatch(/^1 call: the row is erased or cannot be read$/m);
});

test('what depends on the address or the groups of a person is not judged, because the log has neither', async () => {
  const rows = [...ran({ at: at(0), input: { amount: 1 } }), ...ran({ at: at(1), input: { amount: 600 } })];
  for (const condition of ["requester.email != 'ann@example.com'", "'S0FINANCE1' in requester.groups"]) {
    const rules = `{ require: never, when: "input.amount > 500.0" }, { require: never, when: "${condition}" }`;
    const { changes, groups } = await replayed(rows, manifestWith(rules));
    expect(changes).toEqual({ 'not-judged': 1, same: 1 });
    expect(JSON.stringify(groups)).toContain(
      'the log does not have the groups, addresses and names of people',
    );
  }
});

test('without a name the present manifest is tried', async () => {
  const folder = newFolder();
  const manifest = writeManifest(manifestWith('{ require: never }'), folder);
  const args = ['manifest', 'replay', '--from', writeExport(ran({ at: at(0) }))];
  const { code, out } = await run(args, { MANIFEST: manifest });
  expect({ code, out }).toEqual({ code: 0, out: '1 call judged; none would be decided differently.\n' });
});

test('an export with rows twice and erased ones is read once; people are told of the erased', async () => {
  const rows = [...ran({ at: at(0) }), ...ran({ at: at(1) })];
  const erased = {
    type: 'erased',
    seq: 99,
    at: at(2),
    event: 'effect-started',
    hash: 'ab',
    sha256: 'cd',
  };
  const file = writeExport(rows, [erased]);
  const [first = ''] = readFileSync(file, 'utf8').split('\n');
  appendFileSync(file, `${first}\n`);
  const candidate = writeManifest(manifestWith('{ require: never }'));
  const { out } = await run(['manifest', 'replay', candidate, '--from', file, '--json']);
  expect(JSON.parse(out)).toMatchObject({
    calls: 2,
    notes: ['1 call: the row is erased or cannot be read'],
  });
});

test.each([
  ['no file', [], 'cannot be read; it must be an export of the audit log'],
  ['no export', ['{"hello":1}'], 'line 1 of'],
  ['an empty file', [], 'holds no rows of an audit log'],
])('%s is one clear error', async (name, lines, problem) => {
  const file = `${newFolder()}/audit.jsonl`;
  if (name !== 'no file') writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  const candidate = writeManifest(manifestWith('{}'));
  const { code, out, error } = await run(['manifest', 'replay', candidate, '--from', file]);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(error).toContain(problem);
  expect(error.trim().split('\n')).toHaveLength(1);
});

test('a candidate with errors, a wrong time and a missing file are told', async () => {
  const file = writeExport(ran({ at: at(0) }));
  const wrong = writeManifest(manifestWith('{ policy: nobody }'));
  expect(await run(['manifest', 'replay', wrong, '--from', file])).toMatchObject({
    code: 1,
    error: expect.stringContaining('the manifest has errors'),
  });
  expect(await run(['manifest', 'replay', wrong, '--since', 'soon'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('--since needs a date, a time or an age'),
  });
  const missing = await run(['manifest', 'replay', `${newFolder()}/none.yml`, '--from', file]);
  expect(missing).toMatchObject({ code: 1, error: expect.stringContaining('there is no ') });
});
