import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startCalling } from './calling.ts';
import { countersign, type Reachable, temporaryFolder } from './shell.ts';
import { CAST } from './support.ts';

const FIXTURES = new URL('../commands/fixtures/hooks/', import.meta.url);
const RULES = `
wait: 120
rules:
  - { tool: Read, do: allow }
  - { tool: Bash, command: [git, status], do: allow }
  - { tool: Bash, command: "terraform apply*", do: slack, policy: release }
  - { tool: Bash, command: "rm *", do: deny, reason: Never here }
  - { tool: "mcp__*", do: here }
`;

interface Given {
  readonly agent: 'claude-code' | 'codex';
  readonly event: string;
  readonly change?: object;
  readonly rules?: string;
  readonly environment?: Record<string, string>;
}

const payloadOf = ({ agent, event, change = {} }: Given): string =>
  JSON.stringify({
    ...z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(readFileSync(new URL(`${agent}-${event}.json`, FIXTURES), 'utf8'))),
    ...change,
  });

/** Starts the hook with a payload of its agent. */
function hook(door: Reachable, cwd: string, given: Given) {
  const { agent, rules = RULES, environment = {} } = given;
  const path = join(cwd, `${Buffer.from(rules).toString('hex').slice(0, 40)}.yml`);
  writeFileSync(path, rules);
  return countersign(door, ['hook', agent, '--rules', path], {
    cwd,
    input: payloadOf(given),
    environment: { XDG_STATE_HOME: cwd, ...environment },
  });
}

async function answerOf(shell: ReturnType<typeof hook>): Promise<unknown> {
  expect(await shell.ended).toBe(0);
  const out = shell.out();
  return out === ''
    ? undefined
    : z.object({ hookSpecificOutput: z.unknown() }).parse(JSON.parse(out)).hookSpecificOutput;
}

const bash = (command: string) => ({ tool_input: { command } });
/** No bot is needed, and none is there. */
const NOBODY = { bot: () => ({ port: 9 }) };

test('rules allow, deny and leave to the person, in the format of each agent; a pattern allows no second command', async () => {
  const cwd = temporaryFolder();
  const pre = { agent: 'claude-code', event: 'pre-tool-use' } as const;
  const cases = [
    [{ ...pre, change: bash('git status') }, { permissionDecision: 'allow' }],
    [{ ...pre, change: bash('git status; rm -rf /') }, { permissionDecision: 'ask' }],
    [{ ...pre, change: bash('git status $(rm -rf /)') }, { permissionDecision: 'ask' }],
    [
      { ...pre, change: bash('rm -rf /') },
      { permissionDecision: 'deny', permissionDecisionReason: 'Never here' },
    ],
    [{ ...pre, change: { tool_name: 'mcp__x__y' } }, { permissionDecision: 'ask' }],
    [{ ...pre, change: { tool_name: 'Unknown' } }, { permissionDecision: 'ask' }],
    // Nobody answers at that address, the rules are broken: the person is asked.
    [pre, { permissionDecision: 'ask' }],
    [{ ...pre, rules: 'rules: [{ tool: Bash, do: slack }]' }, { permissionDecision: 'ask' }],
    [{ ...pre, environment: { COUNTERSIGN_URL: '' } }, { permissionDecision: 'ask' }],
  ] as const;
  const started = cases.map(([given]) => hook(NOBODY, cwd, given));
  for (const [index, [given, expected]] of cases.entries()) {
    const shell = started[index];
    expect(shell && (await answerOf(shell)), JSON.stringify(given)).toMatchObject({
      hookEventName: 'PreToolUse',
      ...expected,
    });
  }
});

test('Codex: before a tool is used it is denied or left alone; at its question an error leaves the question to the person', async () => {
  const cwd = temporaryFolder();
  const pre = { agent: 'codex', event: 'pre-tool-use' } as const;
  const question = { agent: 'codex', event: 'permission-request' } as const;
  expect(await answerOf(hook(NOBODY, cwd, pre))).toMatchObject({ permissionDecision: 'deny' });
  expect(await answerOf(hook(NOBODY, cwd, { ...pre, change: bash('git status') }))).toBeUndefined();
  expect(await answerOf(hook(NOBODY, cwd, question))).toBeUndefined();
  expect(await answerOf(hook(NOBODY, cwd, { ...question, change: bash('git status') }))).toEqual({
    hookEventName: 'PermissionRequest',
    decision: { behavior: 'allow' },
  });
  expect(await answerOf(hook(NOBODY, cwd, { ...question, change: bash('rm x') }))).toEqual({
    hookEventName: 'PermissionRequest',
    decision: { behavior: 'deny', message: 'Never here' },
  });
  const broken = countersign(NOBODY, ['hook', 'codex'], { cwd, input: '{"tool_name":"Bash"}' });
  expect(await broken.ended).toBe(2);
});

test('a call that people approve in Slack is allowed and its end reported; a rejected one is denied in their words', async () => {
  const door = await startCalling();
  const cwd = temporaryFolder();
  const allowed = hook(door, cwd, { agent: 'claude-code', event: 'pre-tool-use' });
  const card = JSON.stringify((await door.place.shows(/Approval needed/)).blocks);
  expect(card).toContain('terraform apply plan.bin');
  expect(card).toContain('Claude Code: Bash');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await answerOf(allowed)).toEqual({
    hookEventName: 'PreToolUse',
    permissionDecision: 'allow',
    permissionDecisionReason: `Approved in Slack by ${CAST.alice}.`,
  });
  expect(await answerOf(hook(door, cwd, { agent: 'claude-code', event: 'post-tool-use' }))).toBeUndefined();
  await door.place.shows(/release-pipeline ran “/);

  const rejected = hook(door, cwd, { agent: 'codex', event: 'permission-request' });
  await door.reject(CAST.bruno, /Approval needed/, 'Use the pipeline.');
  expect(await answerOf(rejected)).toEqual({
    hookEventName: 'PermissionRequest',
    decision: { behavior: 'deny', message: 'Rejected in Slack: Use the pipeline.' },
  });
});

test('all of the input is on the card, whatever the tool: Bash with its command line first, any other as JSON', async () => {
  const door = await startCalling();
  const cwd = temporaryFolder();
  const rules = 'wait: 0\nrules:\n  - { tool: "*", do: slack, policy: release }';
  const pre = { agent: 'claude-code', event: 'pre-tool-use', rules } as const;
  const cases = [
    [
      /“make/,
      { tool_name: 'Bash', tool_input: { command: 'make', timeout: 5 } },
      'make\\n# Other input: {\\"timeout\\":5}',
    ],
    [
      /“mcp__db__run/,
      { tool_name: 'mcp__db__run', tool_input: { command: 'vacuum', timeout: 5 } },
      'mcp__db__run {\\"command\\":\\"vacuum\\",\\"timeout\\":5}',
    ],
  ] as const;
  const ids = new Set<unknown>();
  for (const [title, change, expected] of cases) {
    const answer = await answerOf(hook(door, cwd, { ...pre, change }));
    expect(answer).toMatchObject({ permissionDecision: 'ask' });
    ids.add(JSON.stringify(answer));
    expect(JSON.stringify((await door.place.shows(title)).blocks)).toContain(expected);
  }
  // The same command with other input is another request.
  const changed = { tool_name: 'Bash', tool_input: { command: 'make', timeout: 6 } };
  ids.add(JSON.stringify(await answerOf(hook(door, cwd, { ...pre, change: changed }))));
  expect(ids.size).toBe(cases.length + 1);
});

test('what the person at the terminal decided after the wait is withdrawn in Slack when the call has ended', async () => {
  const door = await startCalling();
  const cwd = temporaryFolder();
  const rules = RULES.replace('wait: 120', 'wait: 0');
  const asked = hook(door, cwd, { agent: 'claude-code', event: 'pre-tool-use', rules });
  expect(await answerOf(asked)).toMatchObject({ permissionDecision: 'ask' });
  await door.place.shows(/Approval needed/);
  await answerOf(hook(door, cwd, { agent: 'claude-code', event: 'post-tool-use', rules }));
  await door.place.shows(/withdrawn by .*release-pipeline/i);
  expect(await door.events()).not.toContain('started');
});
