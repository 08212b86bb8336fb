import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { brokenAgent } from './broken/agent.ts';
import { brokenApproval } from './broken/approval.ts';
import { brokenAuth } from './broken/auth.ts';
import type { BrokenManifest } from './broken/broken-manifest.ts';
import { brokenCallers } from './broken/callers.ts';
import { brokenFiles } from './broken/files.ts';
import { brokenHttp } from './broken/http.ts';
import { brokenPolicies } from './broken/policies.ts';
import { brokenSlack } from './broken/slack.ts';
import { brokenTools } from './broken/tools.ts';

const SLACK = 'slack: { display_information: { name: Test } }\n';
const REST = {
  nothing: '',
  slack: SLACK,
  'slack and default policy': `${SLACK}policies: { default: { approvers: [S0APPROVE1] } }\n`,
};
const environment = { MODEL: 'gpt-5', API_KEY: 'key-123456' };

function problemsOf(text: string, given: Readonly<Record<string, string>> = environment): string[] {
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: given });
  return parsed.ok ? [] : parsed.problems.map(formatProblem);
}

const tables: readonly (readonly [string, readonly BrokenManifest[]])[] = [
  ['a file', brokenFiles],
  ['a caller', brokenCallers],
  ['the agent', brokenAgent],
  ['a policy', brokenPolicies],
  ['a tool', brokenTools],
  ['an approval rule', brokenApproval],
  ['an HTTP call', brokenHttp],
  ['the auth of a server', brokenAuth],
  ["Slack's section", brokenSlack],
];

describe.each(tables)('in %s', (_where, table) => {
  test.each(table)('$says is reported where it stands, and nothing else', ({ text, rest, problems }) => {
    expect(problemsOf(text + REST[rest])).toEqual(problems.map((problem) => `manifest.yml:${problem}`));
  });
});

test('what completes the broken manifests is itself without a mistake', () => {
  expect([SLACK, REST['slack and default policy']].flatMap((text) => problemsOf(text))).toEqual([]);
});

test('all mistakes of a file are reported at once, in the order of the file', () => {
  const text = `agent:
  modle: gpt-5
  model: gpt-5
  model: \${NOWHERE}
policies:
  finance:
    approvers: [alice, U012ABCDEF]
    quorum: 3
    expires: 1h
    notify: { remind: 2 hours }
    escalate: { after: 2h, to: [S0ONCALL] }
tools:
  ask_question:
    module: ./ask.ts
    aproval: { policy: finance }
    approval: { policy: finanse, when: "input.amount >" }
slack: { display_information: { title: Test } }
`;
  expect(problemsOf(text)).toEqual([
    'manifest.yml:2:3: agent.modle: unknown key "modle"; did you mean "model"?',
    'manifest.yml:4:3: agent.model: "model" appears twice here; keep one',
    'manifest.yml:7:17: policies.finance.approvers[0]: "alice" is not the id of a person (U012ABCDEF) or of a user group (S034GHIJKL)',
    'manifest.yml:10:23: policies.finance.notify.remind: "2 hours" is not a duration such as 30s, 15m, 4h or 2d',
    'manifest.yml:11:24: policies.finance.escalate.after: nobody would be asked: the request expires by then',
    'manifest.yml:13:3: tools.ask_question: "ask_question" is the name of a built-in; give this tool another',
    'manifest.yml:13:3: tools.ask_question: some calls need the policy "default", but there is none in policies; add it or name another here',
    'manifest.yml:15:5: tools.ask_question.aproval: unknown key "aproval"; did you mean "approval"?',
    'manifest.yml:16:25: tools.ask_question.approval.policy: there is no policy "finanse"; did you mean "finance"?',
    'manifest.yml:16:55: tools.ask_question.approval.when: this is not a valid CEL condition: it is incomplete',
    'manifest.yml:17:33: slack.display_information.title: unknown key "title"; the keys here are name, description, background_color, long_description',
  ]);
});

describe('a file that was made to do harm', () => {
  const nines = (name: string) => Array.from({ length: 9 }, () => `*${name}`).join(', ');
  const garbage = String.fromCodePoint(...Array.from({ length: 2000 }, (_, index) => (index * 7919) % 256));

  test.each([
    [
      'is far too large',
      'a'.repeat(5_000_000),
      '1:1: the file has 5000000 characters; a manifest has at most 262144',
    ],
    ['is binary', `\u0000${garbage}`, '1:1: the file is not plain text in UTF-8; save it as such'],
    ['is not UTF-8', 'agent: {}\n# caf\ufffd\n', '2:6: the file is not plain text in UTF-8; save it as such'],
    [
      'nests without end',
      `agent: ${'{ a: '.repeat(60)}1${' }'.repeat(60)}\n`,
      '1:1: the file nests deeper than 40 levels',
    ],
    ['contains itself', 'agent: &agent\n  model: *agent\n', '1:1: the file nests deeper than 40 levels'],
    [
      'grows by its aliases',
      [
        'a: &a [1, 2, 3]',
        `b: &b [${nines('a')}]`,
        `c: &c [${nines('b')}]`,
        `d: &d [${nines('c')}]`,
        `e: &e [${nines('d')}]`,
        `f: [${nines('e')}]`,
      ].join('\n'),
      '1:1: the file has more than 20000 values once its aliases are written out',
    ],
  ])('one that %s is refused in one sentence', (_what, text, problem) => {
    expect(problemsOf(text)).toEqual([`manifest.yml:${problem}`]);
  });

  test('brackets beyond the depth of the parser are a problem, not a crash', () => {
    expect(problemsOf(`agent: ${'['.repeat(5000)}`).length).toBeGreaterThan(0);
  });
});

describe('a value from the environment', () => {
  const long = `ftp://${'k'.repeat(80)}`;

  test('is never repeated in a message, not even in part', () => {
    const tool = `tools: { t: { mcp: { url: "\${KEY}", prefix: "a b" }, approval: { require: never } } }\n`;
    expect(problemsOf(tool + SLACK, { KEY: long })).toEqual([
      'manifest.yml:1:27: tools.t.mcp.url: what the environment has is not a URL that begins with https:// or http://',
      'manifest.yml:1:45: tools.t.mcp.prefix: "a b" is not up to 32 letters, digits, "_" or "-"',
    ]);
  });

  test('that is empty is as good as not set', () => {
    expect(problemsOf(`agent: { model: "\${MODEL}" }\n${SLACK}`, { MODEL: '' })).toEqual([
      'manifest.yml:1:18: agent.model: MODEL is not set in .env or the environment',
    ]);
  });

  test('is not looked for among what every object has', () => {
    expect(problemsOf(`agent: { model: "\${constructor}" }\n${SLACK}`, {})).toEqual([
      'manifest.yml:1:18: agent.model: constructor is not set in .env or the environment',
    ]);
  });
});
