import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Manifest, ToolDeclaration } from '../../../src/tools/manifest/manifest.ts';
import { type ParsedManifest, parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { countFor } from '../../support/count-for.ts';

const SLACK = 'slack: { display_information: { name: Test } }\n';
const DEFAULT_POLICY = 'policies: { default: { approvers: [S0APPROVE1] } }\n';

type Held = Extract<ParsedManifest, { ok: true }>;

function held(text: string, environment: Readonly<Record<string, string>> = {}): Held {
  const parsed = parseManifest(text + SLACK, { file: 'manifest.yml', environment });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  return parsed;
}

function toolOf({ tools }: Manifest): ToolDeclaration {
  const [tool] = tools;
  if (tool === undefined) throw new Error('the manifest has no tool');
  return tool;
}

function warningsOf(tool: string): string[] {
  return held(`tools:\n${tool}${DEFAULT_POLICY}`).warnings.map(formatProblem);
}

describe('what is left out', () => {
  test('is filled in for the agent', () => {
    expect(held('').manifest.agent).toEqual({
      model: undefined,
      fallbackModels: [],
      api: 'auto',
      config: {},
      headers: {},
      query: {},
      timeoutMs: undefined,
      budgets: {},
      instructions: undefined,
      maxSteps: 20,
      timeZone: 'UTC',
      contextBudget: undefined,
      context: 'thread',
      files: { maxBytes: 10_000_000, maxCount: 5, timeoutMs: 30_000, types: ['image', 'text', 'pdf'] },
      channels: new Map(),
      memory: 'off',
      feedback: false,
      askers: { people: [], groups: [], channels: [], guests: false, external: false, bots: [] },
      limits: { pendingPerThread: 10, pendingPerPerson: 25 },
      admins: [],
      unfreeze: { approvers: [], quorum: 1 },
      builtIns: {
        ask_question: 'anyone',
        request_form: 'anyone',
        wait_for_callback: 'anyone',
        complete_task: 'anyone',
      },
    });
  });

  test('is filled in for a policy', () => {
    expect(held(DEFAULT_POLICY).manifest.policies.get('default')).toEqual({
      name: 'default',
      approvers: ['S0APPROVE1'],
      groups: [{ any: ['S0APPROVE1'], from: undefined, quorum: 1, pointer: '/approvers' }],
      excluded: [],
      quorum: 1,
      veto: true,
      selfApproval: false,
      separation: 'requesters',
      expiresMs: 86_400_000,
      startWithinMs: 900_000,
      remindMs: undefined,
      escalate: undefined,
      delegation: undefined,
      announce: [],
      directMessages: true,
      confirm: undefined,
      risk: 'medium',
      timeZone: 'UTC',
      grants: undefined,
      resolvers: ['S0APPROVE1'],
    });
  });

  test('is filled in for a tool', () => {
    expect(toolOf(held(`tools: { a: { module: ./a.ts } }\n${DEFAULT_POLICY}`).manifest)).toEqual({
      kind: 'module',
      name: 'a',
      cards: [],
      module: './a.ts',
      approval: [],
      effect: undefined,
      maxAttempts: 3,
      retryForMs: 3_600_000,
      allow: { channels: undefined, people: undefined },
      maxOutput: 100_000,
      images: 'both',
      asWritten: { module: './a.ts' },
    });
  });
});

describe('what is written', () => {
  test('holds for the agent', () => {
    const { agent } = held(`agent:
  model: gpt-5
  fallback_models: [gpt-6-luna]
  api: responses
  reasoning_effort: low
  verbosity: high
  temperature: 0.5
  max_output_tokens: 4000
  parallel_tool_calls: false
  service_tier: flex
  headers: { x-team: shop }
  query: { api-version: preview }
  timeout: 5m
  budgets: { per_turn: 1000, per_thread: 2000, per_person: 3000, per_day: 4000 }
  instructions: Be brief.
  max_steps: 7
  time_zone: Europe/Berlin
  context_budget: 9000
  context: mention
  files: { max_size: 500KB, max_count: 2, timeout: 10s, types: [text] }
  channels:
    C012ABCDEF: { context: thread, instructions: Be kind., tools: ["get_*"], model: gpt-6-luna, topic: true }
  memory: channel
  feedback: true
  limits: { pending_per_thread: 3, pending_per_person: 8 }
  admins: [U012ABCDEF, W012ABCDEF]
  built_ins: { ask_question: { limit_to: requester }, request_form: false, complete_task: true }
`).manifest;
    expect(agent).toEqual({
      model: 'gpt-5',
      fallbackModels: ['gpt-6-luna'],
      api: 'responses',
      config: {
        reasoningEffort: 'low',
        verbosity: 'high',
        temperature: 0.5,
        maxOutputTokens: 4000,
        parallelToolCalls: false,
        serviceTier: 'flex',
      },
      headers: { 'x-team': 'shop' },
      query: { 'api-version': 'preview' },
      timeoutMs: 300_000,
      budgets: { perTurn: 1000, perThread: 2000, perPerson: 3000, perDay: 4000 },
      instructions: 'Be brief.',
      maxSteps: 7,
      timeZone: 'Europe/Berlin',
      contextBudget: 9000,
      context: 'mention',
      files: { maxBytes: 500_000, maxCount: 2, timeoutMs: 10_000, types: ['text'] },
      channels: new Map([
        [
          'C012ABCDEF',
          {
            context: 'thread',
            instructions: 'Be kind.',
            tools: ['get_*'],
            model: 'gpt-6-luna',
            topic: true,
          },
        ],
      ]),
      memory: 'channel',
      feedback: true,
      askers: { people: [], groups: [], channels: [], guests: false, external: false, bots: [] },
      limits: { pendingPerThread: 3, pendingPerPerson: 8 },
      admins: ['U012ABCDEF', 'W012ABCDEF'],
      unfreeze: { approvers: ['U012ABCDEF', 'W012ABCDEF'], quorum: 1 },
      builtIns: {
        ask_question: 'requester',
        request_form: 'off',
        wait_for_callback: 'anyone',
        complete_task: 'anyone',
      },
    });
  });

  test('holds for a policy, with durations in milliseconds', () => {
    const { policies } = held(`policies:
  finance:
    approvers: [U012ABCDEF, S034GHIJKL]
    quorum: 2
    veto: false
    self_approval: true
    expires: 2d
    start_within: 5m
    remind: 15m
    escalate: { after: 4h, to: [S0ONCALL] }
    announce: [C012ABCDEF]
    direct_messages: false
    delegation: true
    risk: low
    time_zone: Asia/Tokyo
    resolvers: [U034GHIJKL]
`).manifest;
    expect(policies.get('finance')).toEqual({
      name: 'finance',
      approvers: ['U012ABCDEF', 'S034GHIJKL'],
      groups: [{ any: ['U012ABCDEF', 'S034GHIJKL'], from: undefined, quorum: 2, pointer: '/approvers' }],
      excluded: [],
      quorum: 2,
      veto: false,
      selfApproval: true,
      separation: 'requesters',
      expiresMs: 172_800_000,
      startWithinMs: 300_000,
      remindMs: 900_000,
      escalate: { afterMs: 14_400_000, to: ['S0ONCALL'] },
      delegation: true,
      announce: ['C012ABCDEF'],
      directMessages: false,
      confirm: undefined,
      risk: 'low',
      timeZone: 'Asia/Tokyo',
      grants: undefined,
      resolvers: ['U034GHIJKL'],
    });
  });

  test('holds for approvers in every form', () => {
    const { policies } = held(`policies:
  a: { approvers: { any: [U012ABCDEF], from: input.owner, not: [S034GHIJKL] }, quorum: 2 }
  b: { approvers: { all: [{ any: [S034GHIJKL], quorum: 2 }, { any: [U012ABCDEF], from: input.owner }] } }
`).manifest;
    expect(policies.get('a')).toMatchObject({
      approvers: ['U012ABCDEF'],
      groups: [{ any: ['U012ABCDEF'], from: 'input.owner', quorum: 2, pointer: '/approvers/any' }],
      excluded: ['S034GHIJKL'],
      quorum: 2,
      resolvers: ['U012ABCDEF'],
    });
    expect(policies.get('b')).toMatchObject({
      approvers: ['S034GHIJKL', 'U012ABCDEF'],
      groups: [
        { any: ['S034GHIJKL'], from: undefined, quorum: 2, pointer: '/approvers/all/0/any' },
        { any: ['U012ABCDEF'], from: 'input.owner', quorum: 1, pointer: '/approvers/all/1/any' },
      ],
      excluded: [],
      quorum: 3,
    });
  });

  test('leaves the confirmation to the risk of each call unless it is written, and keeps an expression', () => {
    const { policies } = held(`policies:
  a: { approvers: [S034GHIJKL], risk: high }
  b: { approvers: [S034GHIJKL], risk: high, confirm: false }
  c: { approvers: [S034GHIJKL], risk: "input.amount > 5 ? 'high' : 'low'" }
`).manifest;
    expect([policies.get('a')?.confirm, policies.get('b')?.confirm]).toEqual([undefined, false]);
    expect(policies.get('c')).toMatchObject({
      risk: { expression: "input.amount > 5 ? 'high' : 'low'" },
      separation: 'thread',
    });
  });

  test('holds for a local server', () => {
    const { manifest } = held(
      `tools:
  files:
    mcp: { command: node, args: [a.js], env: { KEY: "\${KEY}" }, cwd: ./here, timeout: 5s, trust_hints: true, prefix: fs_, elicitation: { ask: [S034GHIJKL], expires: 2d } }
    approval: { require: never }
    allow: { channels: [C012ABCDEF], people: [U012ABCDEF] }
    effect: idempotent
    max_attempts: 5
    retry_for: 30s
    max_output: 10
`,
      { KEY: 'key-123456' },
    );
    expect(toolOf(manifest)).toEqual({
      kind: 'mcp',
      name: 'files',
      cards: [],
      config: {
        transport: 'stdio',
        command: 'node',
        args: ['a.js'],
        env: { KEY: 'key-123456' },
        cwd: './here',
        prefix: 'fs_',
        timeoutMs: 5000,
      },
      trustHints: true,
      elicitation: { ask: ['S034GHIJKL'], expiresMs: 172_800_000 },
      allowPrivate: [],
      approval: [{ require: 'never' }],
      effect: 'idempotent',
      maxAttempts: 5,
      retryForMs: 30_000,
      allow: { channels: ['C012ABCDEF'], people: ['U012ABCDEF'] },
      maxOutput: 10,
      images: 'both',
      asWritten: {
        mcp: {
          command: 'node',
          args: ['a.js'],
          env: { KEY: `\${KEY}` },
          cwd: './here',
          timeout: '5s',
          trust_hints: true,
          prefix: 'fs_',
          elicitation: { ask: ['S034GHIJKL'], expires: '2d' },
        },
        allow: { channels: ['C012ABCDEF'], people: ['U012ABCDEF'] },
        effect: 'idempotent',
        max_attempts: 5,
        retry_for: '30s',
        max_output: 10,
      },
    });
  });

  test('holds for a remote server', () => {
    const { manifest } = held(`tools:
  remote:
    mcp: { url: "https://mcp.example.com", headers: { x-team: shop }, allow_private: ["intranet:8080"] }
    approval: { require: never }
`);
    expect(toolOf(manifest)).toMatchObject({
      kind: 'mcp',
      config: {
        transport: 'http',
        url: 'https://mcp.example.com',
        headers: { 'x-team': 'shop' },
        prefix: '',
        timeoutMs: 60_000,
      },
      trustHints: false,
      elicitation: { ask: 'requester', expiresMs: 604_800_000 },
      allowPrivate: ['intranet:8080'],
    });
  });

  test('holds for an HTTP call', () => {
    const { manifest } = held(`tools:
  open_incident:
    description: Opens an incident.
    input: { type: object, properties: { title: { type: string } }, required: [title] }
    http:
      method: POST
      url: https://status.example.com/incidents
      headers: { x-team: shop }
      query: { tag: [a, b] }
      body: { title: "{{input.title}}", count: 1 }
      select: data.id
      timeout: 5s
      max_bytes: 1000
      allow_private: [localhost]
    approval: { require: never }
`);
    expect(toolOf(manifest)).toMatchObject({
      kind: 'http',
      definition: {
        name: 'open_incident',
        description: 'Opens an incident.',
        inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
        method: 'POST',
        url: 'https://status.example.com/incidents',
        headers: { 'x-team': 'shop' },
        query: { tag: ['a', 'b'] },
        body: { title: '{{input.title}}', count: 1 },
        select: 'data.id',
        timeoutMs: 5000,
        maxBytes: 1000,
        allowPrivate: ['localhost'],
      },
    });
  });

  test('an anchor may be used again', () => {
    const { policies } = held(`policies:
  default: { approvers: &leads [U012ABCDEF, U034GHIJKL] }
  finance: { approvers: *leads, quorum: 2 }
`).manifest;
    expect(policies.get('finance')?.approvers).toEqual(['U012ABCDEF', 'U034GHIJKL']);
  });
});

describe('the environment', () => {
  test('fills connections, and what it fills there is secret', () => {
    const { secrets, manifest } = held(
      `tools:
  a: { mcp: { url: "https://\${HOST}/mcp", headers: { authorization: "Bearer \${TOKEN}" } }, approval: { require: never } }
`,
      { HOST: 'mcp.example.com', TOKEN: 'tok-123456', OTHER: 'other-1234' },
    );
    expect(secrets).toEqual(['mcp.example.com', 'tok-123456']);
    expect(toolOf(manifest)).toMatchObject({
      config: { url: 'https://mcp.example.com/mcp', headers: { authorization: 'Bearer tok-123456' } },
    });
  });

  test('keeps what it fills into the headers of the model as a secret', () => {
    const { secrets, manifest } = held(`agent: { headers: { api-key: "\${KEY}" } }\n`, { KEY: 'key-123456' });
    expect([manifest.agent.headers, secrets]).toEqual([{ 'api-key': 'key-123456' }, ['key-123456']]);
  });

  test('fills other places as well, and what it fills there is no secret', () => {
    const { secrets, manifest } = held(`agent: { model: "\${MODEL}" }\n`, { MODEL: 'gpt-5' });
    expect([manifest.agent.model, secrets]).toEqual(['gpt-5', []]);
  });

  test('is left alone where the dollar is doubled', () => {
    const { agent } = held(`agent: { instructions: "Write $\${HOME} for the home folder." }\n`).manifest;
    expect(agent.instructions).toBe(`Write \${HOME} for the home folder.`);
  });
});

describe('a rule that can never speak is a warning', () => {
  const server = (rules: string) => `  s:\n    mcp: { command: node }\n    approval:\n${rules}`;

  test('after one that decides everything', () => {
    expect(
      warningsOf(server('      - { match: "*" }\n      - { match: "get_*", require: never }\n')),
    ).toEqual([
      'manifest.yml:6:9: tools.s.approval[1]: this rule is never used: rule 1 before it decides every call it is for',
    ]);
  });

  test('after one whose pattern is wider', () => {
    expect(warningsOf(server('      - { match: "get_*" }\n      - { match: "get_user*" }\n'))).toHaveLength(
      1,
    );
  });

  test('beside a tool whose name it does not match', () => {
    const http = 'description: Pings., http: { method: GET, url: "https://example.com" }';
    expect(warningsOf(`  a: { approval: { match: "b*" }, ${http} }\n`)).toEqual([
      'manifest.yml:2:27: tools.a.approval.match: this rule is never used: "b*" does not match "a"',
    ]);
  });

  test('but not beside a module, whose tools have names of their own', () => {
    expect(warningsOf('  a: { module: ./a.ts, approval: { match: "b*" } }\n')).toEqual([]);
  });

  test('where it names a policy that nobody is asked by', () => {
    expect(warningsOf('  a: { module: ./a.ts, approval: { require: never, policy: default } }\n')).toEqual([
      'manifest.yml:2:60: tools.a.approval.policy: with "require: never" no approval is needed, so no policy is used',
    ]);
  });

  test.each([
    ['the same condition', 'input.a == 1', 'input.a == 1'],
    ['the same condition in another form', 'input.a == 1', 'input.a  ==  1'],
    ['a part of the later one', 'input.a == 1', 'input.b && input.a == 1'],
    ['one of two, and the later one is that', 'input.a == 1 || input.b', 'input.a == 1'],
    ['a larger range', 'input.amount > 100', 'input.amount > 1000'],
    ['a larger range downwards', 'input.amount <= -5', 'input.amount < -5 && now.hour > 8'],
    ['a range that holds the number', 'input.amount >= 100', 'input.amount == 100.0'],
    ['always true', 'true', 'input.a == 1'],
  ])('after one whose condition is %s', (_why, first, later) => {
    const rules = `      - { when: '${first}' }\n      - { when: '${later}', policy: default }\n`;
    expect(warningsOf(server(rules))).toEqual([
      'manifest.yml:6:9: tools.s.approval[1]: this rule is never used: rule 1 before it decides every call it is for',
    ]);
  });

  test.each([
    ['another condition', 'input.a == 1', 'input.a == 2'],
    ['a smaller range', 'input.amount > 1000', 'input.amount > 100'],
    ['the same limit, without the limit itself', 'input.amount > 100', 'input.amount >= 100'],
    ['the other direction', 'input.amount > 100', 'input.amount < 1000'],
    ['more than the later one', 'input.a && input.b', 'input.a'],
    ['another value', 'input.a > 1', 'input.b > 2'],
  ])('but not after one whose condition is %s', (_why, first, later) => {
    const rules = `      - { when: '${first}' }\n      - { when: '${later}', policy: default }\n`;
    expect(warningsOf(server(rules))).toEqual([]);
  });

  test('with a condition that is always false', () => {
    expect(warningsOf(server('      - { when: "false" }\n      - {}\n'))).toEqual([
      'manifest.yml:5:17: tools.s.approval[0].when: this rule is never used: its condition is always false',
    ]);
  });

  test('after a denial of everything, and where a denial names a policy', () => {
    const deny = '{ require: deny, reason: "No.", policy: default }';
    expect(warningsOf(server(`      - ${deny}\n      - {}\n`))).toEqual([
      'manifest.yml:5:49: tools.s.approval[0].policy: with "require: deny" nobody is asked, so no policy is used',
      'manifest.yml:6:9: tools.s.approval[1]: this rule is never used: rule 1 before it decides every call it is for',
    ]);
  });

  test.each([
    [
      'an earlier rule has a condition',
      '      - { match: "*", when: "input.a == 1" }\n      - { match: "get_*" }\n',
    ],
    ['the earlier pattern is narrower', '      - { match: "get_user*" }\n      - { match: "get_*" }\n'],
    [
      'a question mark stands for less than a star',
      '      - { match: "get_?" }\n      - { match: "get_*" }\n',
    ],
  ])('but not where %s', (_why, rules) => {
    expect(warningsOf(server(rules))).toEqual([]);
  });
});

describe('the default policy is not needed', () => {
  test.each([
    ['a tool never asks', 'module: ./a.ts, approval: { require: never }'],
    ['a tool is denied', 'module: ./a.ts, approval: { require: deny, reason: No. }'],
    ['a rule names another', 'module: ./a.ts, approval: { policy: other, when: "input.a == 1" }'],
    [
      'the last rule of a server is for all',
      'mcp: { command: node }, approval: [{ match: "get_*", require: never }, { policy: other }]',
    ],
  ])('where %s', (_why, tool) => {
    const text = `tools: { a: { ${tool} } }\npolicies: { other: { approvers: [S0APPROVE1] } }\n`;
    expect(held(text).manifest.policies.has('default')).toBe(false);
  });
});

test('no text whatever makes the parser throw, and every problem has a place', () => {
  const word = fc.constantFrom(
    'slack',
    'tools',
    'policies',
    'agent',
    'a',
    '&a',
    '*a',
    `\${A}`,
    '{{',
    '[',
    ']',
    '{',
    '}',
    ':',
    ': ',
    '- ',
    '\n',
    '\n  ',
    '"',
    "'",
    '|',
    '>',
    '!x',
    '? ',
    '# ',
    '1',
    'null',
    'module',
    'approval',
    'when',
    'http',
    'input',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(word, { maxLength: 30 }).map((words) => words.join('')),
  );
  fc.assert(
    fc.property(text, (written) => {
      const parsed = parseManifest(written, { file: 'manifest.yml', environment: {} });
      const places = parsed.ok ? [] : parsed.problems;
      expect(parsed.ok || places.length > 0).toBe(true);
      for (const { line, column, message } of places) {
        expect([line >= 1, column >= 1, message.length > 0, message.includes('    at ')]).toEqual([
          true,
          true,
          true,
          false,
        ]);
      }
    }),
    { numRuns: countFor('MANIFEST_RUNS', { quick: 100, full: 1_000 }) },
  );
});
