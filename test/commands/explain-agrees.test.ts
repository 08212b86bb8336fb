import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readManifest } from '../../src/commands/shared/load-manifest.ts';
import { type ReadTotals, totalsGiven, type UsedLimits } from '../../src/policy/limits.ts';
import { callerNamed, placeFor } from '../../src/tools/callers.ts';
import { approvalOf } from '../../src/tools/gate.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { openToolbox } from '../../src/tools/toolbox/open-toolbox.ts';
import { countFor } from '../support/count-for.ts';
import { runOnce } from '../tools/gate/support.ts';
import { GOOD, run, writeManifest } from './support.ts';

const MANIFEST = `${GOOD.replace(/policies:[\s\S]*$/, '')}
policies:
  default: { approvers: [S0APPROVE1] }
  finance: { approvers: [S0FINANCE1], quorum: 2, expires: 4h }
  boss: { approvers: [U0BOSS0001], expires: 2h }
limits:
  refund: { sum: input.amount, window: 1d, max: 1000, policy: boss }
  calls: { tools: "*", window: 1h, max: 5 }
  unapproved: { tools: "re*", when: "!approved && input.amount < 200", per: tool, window: month, max: 3 }
callers:
  job: { owner: U0OWNER001, identity: { key: "\${JOB_KEY}" }, channel: C0REFUNDS1, tools: [refund] }
  other: { owner: U0OWNER001, identity: { key: "\${OTHER_KEY}" }, channel: C0REFUNDS1, tools: [status] }
tools:
  refund:
    description: Refunds.
    input: { type: object, properties: { amount: { type: number }, note: { type: string } }, required: [amount] }
    http: { method: POST, url: "https://example.com/refunds", body: { amount: "{{input.amount}}" } }
    target: "{{input.note}}"
    allow: { channels: [C0REFUNDS1], people: [U0OWNER001, U0ANYBODY1], groups: [S0SUPPORT1] }
    approval:
      - { require: deny, when: "input.amount > 900", reason: "Too much." }
      - { policy: finance, when: "input.note == 'vip'" }
      - { policy: finance, when: "'S0INTERN01' in requester.groups" }
      - { policy: default, when: 'sum("refund") + input.amount > 700.0 || count("calls") > 3' }
      - { policy: finance, when: "first.target && input.amount > 100" }
      - { policy: boss, when: "requester.email == 'own@shop.example'" }
      - { require: never, when: "requester != 'U0ANYBODY1'" }
      - { policy: default }
  status:
    description: Reads.
    input: { type: object, properties: { amount: { type: number }, note: { type: string } } }
    http: { method: POST, url: "https://example.com/status" }
    approval: [{ when: "first.tool || size(context_authors) > 0", policy: finance }, { require: never }]
`;
const environment = { JOB_KEY: 'j'.repeat(43), OTHER_KEY: 'o'.repeat(43) };

const call = fc.record(
  {
    tool: fc.constantFrom('refund', 'status'),
    input: fc.record(
      { amount: fc.constantFrom(50, 150, 500, 950), note: fc.constantFrom('vip', 'plain') },
      { requiredKeys: ['amount'] },
    ),
    requesters: fc.uniqueArray(
      fc.constantFrom(
        ...['U0OWNER001', 'U0OWNER001', 'U0ANYBODY1', 'U0HELPER01'],
        ...['caller:job', 'caller:other', 'caller:none'],
      ),
      { minLength: 1, maxLength: 2 },
    ),
    context_authors: fc.uniqueArray(fc.constantFrom('U0ANYBODY1', 'U0READER01'), { maxLength: 1 }),
    groups: fc.subarray(['S0SUPPORT1', 'S0INTERN01']),
    channel: fc.constantFrom('C0REFUNDS1', 'C0REFUNDS1', 'C0REFUNDS1', 'C0ELSEWHERE'),
    email: fc.constantFrom('own@shop.example', 'other@shop.example'),
    first: fc.subarray(['tool', 'target', 'pair'] as const),
    used: fc.record(
      {
        refund: fc.record({ count: fc.constantFrom(0, 2), sum: fc.constantFrom(0, 400, 960) }),
        calls: fc.constantFrom(0, 4, 5),
        unapproved: fc.constantFrom(1, 3),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['tool', 'input', 'requesters', 'channel'] },
);
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;

interface Ends {
  readonly outcome: 'run' | 'deny' | 'ask';
  readonly policy?: string | undefined;
  readonly reason?: string | undefined;
}

/** Sends the calls through their gates, whose functions are replaced so that nothing is sent. */
async function gateEnds(file: string, calls: readonly Call[]): Promise<Ends[]> {
  const parsed = await readManifest(file, environment);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { manifest } = parsed;
  const log = { info: () => {}, warn: () => {} };
  const ends: Ends[] = [];
  for (const { tool: name, input, first, groups, email, used = {}, ...given } of calls) {
    const totals = totalsGiven(manifest.limits, used as UsedLimits);
    // The counters of first times come from the same reader; nobody can tell where they are not given.
    const readTotals: ReadTotals = async (limits) => {
      if (!limits.some(({ key }) => key.startsWith('first '))) return totals(limits);
      if (first === undefined) throw new Error('Redis is away');
      return limits.map(({ key }) => ({ count: isFirst(key, first) ? 0 : 1, sum: 0 }));
    };
    const userGroups = { refresh: async () => {}, of: () => groups };
    const profiles = { refresh: async () => {}, of: () => ({ name: 'Ada', email }) };
    const options = { folder: dirname(file), secrets: new Secrets(), log, readTotals, userGroups, profiles };
    const toolbox = await openToolbox(manifest, options);
    const tool = toolbox.find(name)?.tool;
    if (tool?.kind !== 'tool' || tool.admit === undefined) throw new Error('The tool has no gate');
    const { admit } = tool;
    const { requesters, channel } = placeFor(toolbox.callers(), given.requesters, given.channel);
    const context = { requester: requesters[0], requesters, channel, threadId: 'T1' };
    const part = await runOnce(
      {
        ...tool,
        admit: async (read: unknown, helpers: Parameters<typeof admit>[1]) => {
          await admit(read, helpers);
          return () => 'ran';
        },
      },
      input,
      { context: { ...context, contextAuthors: given.context_authors ?? [] } },
    );
    if ('interrupt' in part) ends.push({ outcome: 'ask', policy: approvalOf(part.interrupt)?.policy });
    else if (part.status === 'denied') ends.push({ outcome: 'deny', reason: JSON.stringify(part) });
    else ends.push({ outcome: 'run' });
    await toolbox.close();
  }
  return ends;
}

/** The names of counters: "first TOOL TARGET" for a target, "first TOOL - PERSON" and "first TOOL TARGET PERSON" for a person. */
function isFirst(key: string, first: readonly ('tool' | 'target' | 'pair')[]): boolean {
  const [, , what, person] = key.split(' ');
  return first.includes(person === undefined ? 'target' : what === '-' ? 'tool' : 'pair');
}

const RUNS = countFor('EXPLAIN_AGREES', { quick: 120, full: 1500 });
const CASES_A_FILE = 500;

test(`for ${RUNS} random calls, explain and manifest test say what the gate does`, async () => {
  const file = writeManifest(MANIFEST);
  const calls = fc.sample(call, { numRuns: RUNS, seed: 46 });
  const ends = await gateEnds(file, calls);
  for (const outcome of ['run', 'deny', 'ask'])
    expect(ends.filter((end) => end.outcome === outcome).length).toBeGreaterThan(2);
  expect(new Set(ends.map(({ policy }) => policy)).size).toBeGreaterThan(3);

  const cases = calls.map((given, index) => {
    const { outcome, policy } = ends[index] ?? { outcome: 'run' };
    return { given, expect: outcome === 'ask' ? { approval: { policy } } : outcome };
  });
  // A file of cases has a largest size.
  for (let first = 0; first < RUNS; first += CASES_A_FILE) {
    const some = cases.slice(first, first + CASES_A_FILE);
    writeFileSync(join(dirname(file), 'manifest.test.yml'), stringify({ cases: some }));
    const tested = await run(['manifest', 'test'], { ...environment, MANIFEST: file });
    expect(tested.error).toBe('');
    expect(tested.out).toContain(`${some.length} cases, all as expected`);
  }

  for (const [index, given] of calls.entries()) {
    const { requesters, context_authors: others = [], first, groups, email, used } = given;
    const [as = ''] = requesters;
    // The command line has one requester and nobody else.
    if (requesters.length > 1 || others.length > 0) continue;
    const options = [
      ...['--as', as, '--channel', given.channel, '--used', JSON.stringify(used ?? {})],
      ...(first === undefined ? [] : ['--first', first.join(',') || 'none']),
      ...(email === undefined ? [] : ['--email', email]),
      ...(groups === undefined ? [] : ['--groups', groups.join(',')]),
    ];
    const explained = await run(['explain', given.tool, JSON.stringify(given.input), ...options, '--json'], {
      ...environment,
      MANIFEST: file,
    });
    const { outcome, policy, reason } = JSON.parse(explained.out) as Ends;
    const end = ends[index];
    expect({ given, outcome, policy }).toEqual({ given, outcome: end?.outcome, policy: end?.policy });
    // The reason why somebody may not use the tool is for admins only.
    if (outcome === 'deny' && !/isn't allowed to use this tool/.test(end?.reason ?? ''))
      expect(end?.reason).toContain(reason);
    if (/caller/.test(reason ?? '')) expect(reason).toContain(callerNamed(as));
  }
});
