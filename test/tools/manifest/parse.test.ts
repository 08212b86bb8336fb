import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { countFor } from '../../support/count-for.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { DEFAULT_POLICY, held, toolOf } from './support.ts';

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
      plans: { collect: false },
      feedback: false,
      cardButtons: 'thread',
      firstDays: 90,
      askers: {
        people: [],
        groups: [],
        channels: [],
        guests: false,
        external: false,
        bots: [],
        members: true,
      },
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
      allow: { channels: undefined, people: undefined },
      maxOutput: 100_000,
      images: 'both',
      asWritten: { module: './a.ts' },
    });
  });
});

describe('the environment', () => {
  test('fills connections, and what it fills there is secret but for the host of an address', () => {
    const { secrets, manifest } = held(
      `tools:
  a: { mcp: { url: "https://\${HOST}/mcp", headers: { authorization: "Bearer \${TOKEN}" } }, approval: { require: never } }
`,
      { HOST: 'mcp.example.com', TOKEN: 'tok-123456', OTHER: 'other-1234' },
    );
    expect(secrets).toEqual(['tok-123456']);
    expect(toolOf(manifest)).toMatchObject({
      config: { url: 'https://mcp.example.com/mcp', headers: { authorization: 'Bearer tok-123456' } },
    });
  });

  test('keeps what it fills into the headers of the model as a secret', () => {
    const { secrets, manifest } = held(`agent: { model: { headers: { api-key: "\${KEY}" } } }\n`, {
      KEY: 'key-123456',
    });
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
      for (const { line, column, message } of nonEmpty(places)) {
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

test.each([
  ['never', { require: 'never' }],
  ['deny', { require: 'deny', reason: 'This action is not allowed.' }],
  ['boss', { policy: 'boss' }],
])('the word %s stands for a rule', (word, rule) => {
  const { manifest, warnings } =
    held(`policies: { default: { approvers: [S0APPROVE1] }, boss: { approvers: [S0APPROVE1] } }
tools:
  ping: { description: Pings., http: { method: GET, url: "https://example.com" }, approval: ${word} }
  pong: { description: Pongs., http: { method: GET, url: "https://example.com" }, approval: boss }
`);
  expect(toolOf(manifest).approval).toEqual([rule]);
  expect(warnings).toEqual([]);
});
