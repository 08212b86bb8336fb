import { describe, expect, test } from 'vitest';
import { beginTurn, effectStart, newFreeze, newThreadId } from '../store/support.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { eachWithRecord, GOOD, run, writeManifest } from './support.ts';

const MANIFEST = `${GOOD.replace(/policies:[\s\S]*$/, '')}
agent: { time_zone: Europe/Berlin }
policies:
  default: { approvers: [S0APPROVE1] }
  finance:
    approvers: { all: [{ any: [S0FINANCE1] }, { from: input.owner }], not: { from: input.author } }
    delegation: true
    risk: "input.amount > 40000 ? 'high' : 'low'"
tools:
  refund:
    description: Refunds.
    input: { type: object, properties: { amount: { type: number }, owner: { type: string }, author: { type: string } } }
    http: { method: POST, url: "https://example.com/refunds", body: { amount: "{{input.amount}}" } }
    allow: { people: [U012ABCDEF] }
    approval:
      - { require: deny, when: "input.amount > 50000", reason: "Too much." }
      - { policy: finance, when: "input.amount > 10000 || now.hour < 8" }
      - { match: "other*" }
      - { require: never, when: "input.amount <= 100" }
      - {}
`;

async function explain(input: string, ...more: string[]) {
  const environment = { MANIFEST: writeManifest(MANIFEST) };
  const at = more.includes('--at') ? [] : ['--at', '2026-11-16T12:00:00Z'];
  return run(['explain', 'refund', input, '--as', 'U012ABCDEF', ...at, ...more], environment);
}

test.each([
  [
    '{"amount":60000}',
    ['Denied: Too much.', 'Rule 1 of 5 decides: "amount" is more than 50000.', '  rule 2: not reached'],
  ],
  [
    '{"amount":45000}',
    [
      'Needs approval by policy "finance" (risk high):',
      '  1 of S0FINANCE1',
      '  1 of the person of input.owner',
      '  not the person of input.author',
      '  approvers may let others decide for them',
      'Rule 2 of 5 decides: "amount" is more than 10000 or the hour is less than 8.',
      '  rule 1: not true that "amount" is more than 50000',
    ],
  ],
  ['{"amount":50}', ['Runs without approval.', 'Rule 4 of 5 decides: "amount" is at most 100.']],
  [
    '{"amount":500}',
    [
      'Needs approval by policy "default" (risk medium):',
      'Rule 5 of 5 decides: it has no condition.',
      '  rule 3: only for tools like other*',
    ],
  ],
  [
    '{}',
    [
      'Denied: Too much. (not checked: No such key: amount)',
      'Rule 1 of 5 decides: it could not be checked whether "amount" is more than 50000, since No such key: amount.',
    ],
  ],
])('%s is explained in words', async (input, lines) => {
  const { code, out, error } = await explain(input);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  for (const line of nonEmpty(lines)) expect(out.split('\n')).toContain(line);
});

test('the time is in the zone of the policy, and can be given', async () => {
  const early = await explain('{"amount":500}', '--at', '2026-11-16T06:30:00Z', '--json');
  expect(JSON.parse(early.out)).toMatchObject({ outcome: 'ask', policy: 'finance', risk: 'low' });
  const later = await explain('{"amount":500}', '--at', '2026-11-16T07:30:00Z', '--json');
  expect(JSON.parse(later.out)).toMatchObject({ outcome: 'ask', policy: 'default' });
});

test('first times are given, and without them nobody knows', async () => {
  const text = MANIFEST.replace(
    / {4}approval:[\s\S]*$/,
    '    target: "{{input.owner}}"\n    approval: [{ when: "first.target", policy: finance }, { require: never }]\n',
  );
  const environment = { MANIFEST: writeManifest(text) };
  const args = ['explain', 'refund', '{"amount":1,"owner":"ann"}', '--as', 'U012ABCDEF'];
  expect((await run([...args, '--first', 'none'], environment)).out).toMatch(/^Runs without approval/);
  const ownerless = await run([...args.with(2, '{"amount":1}'), '--first', 'none'], environment);
  expect(ownerless.out).toMatch(/^Needs approval[\s\S]*it could not be checked whether/);
  expect((await run([...args, '--first', 'tool,pair'], environment)).out).toMatch(/^Runs without approval/);
  const first = await run([...args, '--first', 'target'], environment);
  expect(first.out).toMatch(/policy "finance"[\s\S]*it is the first call of this tool for this target/);
  const unknown = await run(args, environment);
  expect(unknown.out).toMatch(/^Needs approval[\s\S]*it could not be checked whether/);
  expect(await run([...args, '--first', 'once'], environment)).toMatchObject({ code: 2 });
});

const LIMITED = `${MANIFEST.replace(/ {4}allow: .*\n/, '').replace(/ {4}risk: .*\n/, '    expires: 4h\n')}
limits:
  refund: { sum: input.amount, window: 1d, max: 20000, policy: finance }
callers:
  job: { owner: U012ABCDEF, identity: { key: "\${JOB_KEY}" }, channel: C0REFUNDS1, tools: [other] }
`;

describe('limits and callers', () => {
  const JOB_KEY = 'k'.repeat(43);
  const record = eachWithRecord();
  const args = ['explain', 'refund', '{"amount":500}', '--at', '2026-11-16T12:00:00Z', '--as'];
  const other =
    '  other: { description: Another., http: { method: POST, url: "https://example.com/other" } }\n';
  const environment = () => ({
    MANIFEST: writeManifest(LIMITED.replace('tools:\n', `tools:\n${other}`)),
    JOB_KEY,
  });

  test('what is used of a limit is given, read from Redis, or said to be nothing', async () => {
    const within = await run([...args, 'U012ABCDEF', '--used', '{"refund":19500}'], environment());
    expect(within.out).toContain('Limit refund: counts 500 of 20000 per requester in 1d, 19500 used before;');
    expect(within.out).not.toMatch(/is over,/);
    const over = await run([...args, 'U012ABCDEF', '--used', '{"refund":19501}'], environment());
    expect(over.out).toMatch(/^Needs approval by policy "default \+ finance"/);
    expect(over.out).toContain(
      '  all of "default" and "finance" must approve, and nobody counts twice; the shortest expiry counts, that of "finance"',
    );
    expect(over.out).toContain(
      'The call is over a limit refund: sum of input.amount over 20000 per requester.',
    );
    expect(over.out).toMatch(/19501 used before; it is over, and asked by policy "finance"\.$/m);

    const assumed = await run([...args, 'U012ABCDEF'], environment());
    expect(assumed.out).toMatch(
      /Nothing is taken to be used before; set REDIS_URL, or say it with --used\.\n$/,
    );
    const { store } = record;
    const turn = await beginTurn(store, newThreadId());
    const use = { key: 'refund|requester|U012ABCDEF', amount: 19_800, max: undefined };
    const counts = { limits: [{ ...use, windowMs: 86_400_000 }] };
    expect(await store.startEffect(turn, effectStart('call-1', { tool: 'other', ...counts }))).toMatchObject({
      outcome: 'started',
    });
    await store.freeze(newFreeze('refund', { reason: 'Jammed.' }));
    const now = await record.run([...args, 'U012ABCDEF'], environment());
    expect(now.out).toMatch(/19800 used before; it is over[\s\S]*Frozen now: Jammed\.\n$/);
  });

  test('a limit that there is not, and words that are no amounts, are refused', async () => {
    expect(await run([...args, 'U012ABCDEF', '--used', '{"refunds":1}'], environment())).toMatchObject({
      code: 1,
      error: expect.stringContaining('there is no limit "refunds"'),
    });
    expect(await run([...args, 'U012ABCDEF', '--used', 'much'], environment())).toMatchObject({ code: 2 });
  });

  test('a caller that may not use the tool is told so, and so is one that there is not', async () => {
    expect((await run([...args, 'caller:job'], environment())).out).toBe(
      'Denied: the caller job may not use this tool: its "tools" do not name it.\n',
    );
    expect((await run([...args, 'caller:jobs'], environment())).out).toBe(
      'Denied: there is no caller "jobs" in the manifest.\n',
    );
  });
});

test('somebody who may not use the tool is denied, and a wrong command line says what is missing', async () => {
  const environment = { MANIFEST: writeManifest(MANIFEST) };
  const other = await run(['explain', 'refund', '{}', '--as', 'U0SOMEBODY'], environment);
  expect(other.out).toBe('Denied: "allow" names neither U0SOMEBODY nor a user group of theirs.\n');
  expect(await run(['explain', 'refund', '{}'], environment)).toMatchObject({
    code: 2,
    error: expect.stringContaining('--as is missing'),
  });
  expect(await run(['explain', 'refund', '{', '--as', 'U1'], environment)).toMatchObject({
    code: 2,
    error: expect.stringContaining('not JSON'),
  });
  expect(await run(['explain', 'pay', '{}', '--as', 'U1'], environment)).toMatchObject({
    code: 1,
    error: expect.stringContaining('there is no tool "pay"; the tools are'),
  });
});
