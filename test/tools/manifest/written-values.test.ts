import { describe, expect, test } from 'vitest';
import { held, toolOf } from './support.ts';

describe('what is written', () => {
  test('holds for the agent', () => {
    const { agent } = held(`agent:
  model:
    name: gpt-5
    fallbacks: [gpt-6-luna]
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
    context_budget: 9000
  instructions: Be brief.
  max_steps: 7
  time_zone: Europe/Berlin
  context: mention
  files: { max_size: 500KB, max_count: 2, types: [text] }
  channels:
    C012ABCDEF: { context: thread, instructions: Be kind., tools: ["get_*"], model: gpt-6-luna, topic: true }
  plans: { collect: true }
  feedback: true
  cards: { buttons: approvers }
  first_days: 30
  limits: { pending_per_thread: 3, pending_per_person: 8 }
  admins: [U012ABCDEF, W012ABCDEF]
  built_ins: [ask_question: requester, wait_for_callback, complete_task]
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
      files: { maxBytes: 500_000, maxCount: 2, timeoutMs: 30_000, types: ['text'] },
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
      plans: { collect: true },
      feedback: true,
      cardButtons: 'approvers',
      firstDays: 30,
      askers: {
        people: [],
        groups: [],
        channels: [],
        guests: false,
        external: false,
        bots: [],
        members: true,
      },
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
    escalate: { after: 4h, to: [S0ONCALL] }
    notify: { remind: 15m, announce: [C012ABCDEF], direct_messages: false }
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
    mcp: { command: node, args: [a.js], env: { KEY: "\${KEY}" }, cwd: ./here, timeout: 5s, trust_hints: true, errors: { final: [fs_read_*] }, answers: { free: [fs_ask_*] }, prefix: fs_, elicitation: { ask: [S034GHIJKL], expires: 2d } }
    approval: { require: never }
    allow: { channels: [C012ABCDEF], people: [U012ABCDEF] }
    effect: idempotent
    max_attempts: 5
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
      finalErrors: ['fs_read_*'],
      freeAnswers: ['fs_ask_*'],
      elicitation: { ask: ['S034GHIJKL'], expiresMs: 172_800_000 },
      allowPrivate: [],
      approval: [{ require: 'never' }],
      effect: 'idempotent',
      maxAttempts: 5,
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
          errors: { final: ['fs_read_*'] },
          answers: { free: ['fs_ask_*'] },
          prefix: 'fs_',
          elicitation: { ask: ['S034GHIJKL'], expires: '2d' },
        },
        allow: { channels: ['C012ABCDEF'], people: ['U012ABCDEF'] },
        effect: 'idempotent',
        max_attempts: 5,
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
