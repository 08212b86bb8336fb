import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { GOOD, run, writeManifest } from './support.ts';

const MANIFEST = `${GOOD.replace(/policies:[\s\S]*$/, '')}
agent: { time_zone: Europe/Berlin }
policies:
  default: { approvers: [S0APPROVE1] }
  finance:
    approvers: { all: [{ any: [S0FINANCE1], quorum: 2 }, { any: [S0SECURIT1] }], not: [U0TREASURE] }
    risk: "input.amount > 40000 ? 'high' : 'low'"
tools:
  refund:
    description: Refunds.
    input: { type: object, properties: { amount: { type: number } }, required: [amount] }
    http: { method: POST, url: "https://example.com/refunds", body: { amount: "{{input.amount}}" } }
    allow: { channels: [C0REFUNDS1] }
    approval:
      - { require: deny, when: "input.amount > 50000 || 'U0INTERN01' in context_authors", reason: "Too much." }
      - { policy: finance, when: "input.amount > 10000 || now.hour < 8" }
      - { require: never, when: "input.amount <= 100" }
      - {}
`;

async function testCases(cases: string, ...more: string[]) {
  const manifest = writeManifest(MANIFEST);
  writeFileSync(join(dirname(manifest), 'manifest.test.yml'), cases);
  return run(['manifest', 'test', ...more], { MANIFEST: manifest });
}

const AS_EXPECTED = `given: { tool: refund, requester: U0ANYBODY1, channel: C0REFUNDS1, time: 2026-11-16T12:00:00Z }
cases:
  - { name: Small ones run, given: { input: { amount: 50 } }, expect: run }
  - { name: Middle ones are asked, given: { input: { amount: 500 } }, expect: approval }
  - name: Large ones need finance and security
    given: { input: { amount: 45000 } }
    expect:
      approval:
        policy: finance
        approvers: { all: [{ any: [S0SECURIT1] }, { any: [S0FINANCE1], quorum: 2 }], not: [U0TREASURE] }
        quorum: 3
        risk: high
  - { name: Larger ones are denied, given: { input: { amount: 50001 } }, expect: { deny: "Too much." } }
  - { given: { input: { amount: 500 }, time: "2026-11-16T06:30:00Z" }, expect: { approval: { policy: finance, risk: low } } }
  - { given: { input: { amount: 50 }, requesters: [U0ANYBODY1, U0OTHERS01], context_authors: [U0INTERN01] }, expect: deny }
  - { given: { input: { amount: 50 }, channel: C0ELSEWHERE }, expect: deny }
`;

test('cases give first times; without them a rule about them asks', async () => {
  const manifest = writeManifest(
    MANIFEST.replace(
      / {4}approval:[\s\S]*$/,
      '    approval: [{ when: "first.tool", policy: finance }, { require: never }]\n',
    ),
  );
  writeFileSync(
    join(dirname(manifest), 'manifest.test.yml'),
    `given: { tool: refund, requester: U0ANYBODY1, channel: C0REFUNDS1, input: { amount: 1 } }
cases:
  - { given: { first: [] }, expect: run }
  - { given: { first: [tool] }, expect: { approval: { policy: finance } } }
  - { expect: approval }
`,
  );
  expect(await run(['manifest', 'test'], { MANIFEST: manifest })).toMatchObject({ code: 0, error: '' });
});

test('cases that hold are listed in a table, with what the rules say, and the exit code is 0', async () => {
  const { code, out, error } = await testCases(AS_EXPECTED);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toMatch(/^ok +Small ones run +refund +runs without approval$/m);
  expect(out).toMatch(
    /^ok +Large ones .* needs approval by finance: 2 of S0FINANCE1 and 1 of S0SECURIT1, not U0TREASURE$/m,
  );
  expect(out).toMatch(/^ok +case 6 +refund +denied$/m);
  expect(out).toMatch(/\n7 cases, all as expected\n$/);
});

test.each([
  ['run', { amount: 500 }, 'expected that it runs, but it needs approval by default: 1 of S0APPROVE1'],
  ['approval', { amount: 50 }, 'expected that it needs approval, but it runs without approval'],
  ['deny', { amount: 50 }, 'expected that it is denied, but it runs without approval'],
  [{ deny: 'Never.' }, { amount: 60000 }, 'expected the reason "Never.", but it is "Too much."'],
  [{ approval: { policy: 'default' } }, { amount: 20000 }, 'expected the policy default, but it is finance'],
  [{ approval: { quorum: 2 } }, { amount: 20000 }, 'expected a quorum of 2, but it is 3'],
  [{ approval: { risk: 'high' } }, { amount: 20000 }, 'expected the risk high, but it is low'],
  [
    { approval: { approvers: ['S0FINANCE1'] } },
    { amount: 500 },
    'expected the approvers S0FINANCE1, but it is S0APPROVE1',
  ],
  [
    { approval: { approvers: { all: [{ any: ['S0FINANCE1'] }, { any: ['S0SECURIT1'] }] } } },
    { amount: 20000 },
    'expected the approvers 1 of S0FINANCE1 and 1 of S0SECURIT1, but it is 1 of S0SECURIT1 and 2 of S0FINANCE1',
  ],
])('%j of %j is not as expected, and says so with its place and the rule', async (expected, input, why) => {
  const given = {
    tool: 'refund',
    requester: 'U0ANYBODY1',
    channel: 'C0REFUNDS1',
    time: '2026-11-16T12:00Z',
    input,
  };
  const cases = `cases:\n  - given: ${JSON.stringify(given)}\n    expect: ${JSON.stringify(expected)}\n`;
  const { code, out, error } = await testCases(cases);
  expect(code).toBe(1);
  expect(out).toContain('FAILED  case 1  refund');
  expect(out).toContain('\n1 case, 1 not as expected\n');
  expect(error).toMatch(/manifest\.test\.yml:3:13: cases\[0\]\.expect: /);
  expect(error).toContain(why);
  expect(error).toMatch(/\n {4}Rule \d of 4 decides: /);
});

test('every mistake in a file of cases is named at once, with line and column', async () => {
  const { code, error } = await testCases(`cases:
  - { given: { tool: refund, requestor: U0ANYBODY1 }, expect: run }
  - { given: { tool: refund, requester: Bob, time: 2026-11-16 }, expect: maybe }
`);
  expect(code).toBe(1);
  const lines = error.trim().split('\n');
  expect(lines.map((line) => line.replace(/^.*manifest\.test\.yml:/, ''))).toEqual([
    '2:30: cases[0].given.requestor: unknown key "requestor"; did you mean "requester"?',
    '3:41: cases[1].given.requester: "Bob" is not the id of a person, such as U012ABCDEF, or caller:NAME',
    '3:52: cases[1].given.time: "2026-11-16" is not a time with its zone, such as 2026-11-16T09:30:00Z',
    '3:74: cases[1].expect: "maybe" is not one of run, deny, approval',
  ]);
  const others = await testCases(`cases:
  - { given: { input: {} }, expect: { deny: "a", approval: {} } }
  - { given: { tool: refund, requester: U0ANYBODY1, requesters: [U0ANYBODY1] }, expect: run }
`);
  expect(
    others.error
      .trim()
      .split('\n')
      .map((line) => line.replace(/^.*?:(\d+:\d+): /, '$1 ')),
  ).toEqual([
    '2:5 cases[0]: "tool" is missing in "given"',
    '2:5 cases[0]: say in "given" who asks: "requester" or "requesters"',
    '2:29 cases[0].expect: expect one of run, deny and approval',
    '3:7 cases[1].given: write "requester" or "requesters", not both',
  ]);
});

test('a tool that there is not, and an input that it would refuse, fail their case', async () => {
  const { code, error } = await testCases(`given: { requester: U0ANYBODY1 }
cases:
  - { given: { tool: pay }, expect: deny }
  - { given: { tool: refund, input: { amount: many }, channel: C0REFUNDS1 }, expect: deny }
`);
  expect(code).toBe(1);
  expect(error).toContain(
    'manifest.test.yml:3:22: cases[0].given.tool: there is no tool "pay"; the tools are',
  );
  expect(error).toContain(
    'manifest.test.yml:4:37: cases[1].given.input: the tool does not accept this input: amount: must be number',
  );
});

test('as JSON there is an object with every case; a missing file is one sentence', async () => {
  const { code, out } = await testCases(AS_EXPECTED.replace('expect: run', 'expect: deny'), '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    cases: [
      {
        name: 'Small ones run',
        ok: false,
        problems: [{ line: 3, message: expect.stringContaining('denied') }],
      },
      ...new Array(6).fill({ ok: true }),
    ],
  });
  const missing = await run(['manifest', 'test'], { MANIFEST: writeManifest(MANIFEST) });
  expect(missing).toMatchObject({ code: 1, error: expect.stringContaining('cannot be read') });
});

test('the cases of the page of rules hold for the rules of the same page', async () => {
  const page = readFileSync(new URL('../../docs/rules.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  const rules = blocks.find((text) => text.startsWith('    approval:\n')) ?? '';
  const cases = blocks.find((text) => text.includes('cases:\n')) ?? '';
  const manifest = writeManifest(`${GOOD.replace(/policies:[\s\S]*$/, '')}
policies:
  default: { approvers: [S0APPROVE1] }
  managers: { approvers: [S0MANAGERS], quorum: 2 }
  support: { approvers: [S0SUPPORT1] }
tools:
  refund_order:
    description: Refunds.
    input: { type: object, properties: { amount: { type: number } }, required: [amount] }
    http: { method: POST, url: "https://example.com/refunds", body: { amount: "{{input.amount}}" } }
${rules}`);
  writeFileSync(join(dirname(manifest), 'manifest.test.yml'), cases);
  const { code, out, error } = await run(['manifest', 'test'], { MANIFEST: manifest });
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toContain('4 cases, all as expected');
  const other = cases.replace('expect: run', 'expect: deny');
  writeFileSync(join(dirname(manifest), 'manifest.test.yml'), other);
  expect(await run(['manifest', 'test'], { MANIFEST: manifest })).toMatchObject({ code: 1 });
});
