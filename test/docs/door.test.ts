import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { KEYS, startCalling } from '../stories/calling.ts';
import { runAction, startGithub, trustingGithub } from '../stories/github.ts';
import { countersign, linesOf, temporaryFolder } from '../stories/shell.ts';
import { CAST } from '../stories/support.ts';
import { nonEmpty } from '../support/non-empty.ts';

const page = readFileSync(new URL('../../docs/door.md', import.meta.url), 'utf8');
/** The code of the page in a language, where it has a text. */
function sample(language: string, having: string): string {
  const all = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  const found = all.map(([, text = '']) => text).filter((text) => text.includes(having));
  expect(found, `${language} with "${having}"`).toHaveLength(1);
  return found.join('');
}

const script = sample('ts', 'countersign/client');
/** The command of the examples; it says so and leaves a line in the file `applied`. */
const TERRAFORM = '#!/bin/sh\necho "applied $2"\necho "$*" >> applied\n';

/** Makes a folder with a plan, and a folder for the PATH with what the examples run. */
function workshop() {
  const cwd = temporaryFolder();
  const bin = join(cwd, 'bin');
  mkdirSync(bin);
  writeFileSync(join(cwd, 'plan.bin'), 'the plan');
  writeFileSync(join(bin, 'terraform'), TERRAFORM, { mode: 0o755 });
  return { cwd, PATH: `${bin}:${process.env.PATH}`, applied: () => linesOf(join(cwd, 'applied')) };
}

test('the script of the page asks, waits for people and prints the result', async () => {
  const door = await startCalling();
  const env = {
    ...process.env,
    COUNTERSIGN_URL: `http://127.0.0.1:${door.bot().port}`,
    NIGHT_JOB_KEY: KEYS.pipeline,
  };
  const file = join(temporaryFolder(), 'refunds.mjs');
  const entry = new URL('../../src/client.ts', import.meta.url).href;
  writeFileSync(file, script.replace("'countersign/client'", `'${entry}'`));
  const tsx = new URL(import.meta.resolve('tsx')).href;
  const running = promisify(execFile)(process.execPath, ['--import', tsx, file], { env });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const { stdout } = await running;
  expect(stdout).toBe('succeeded {"orderId":"A-1001","refunded":12000,"total":12000}\n');
});

test('the MCP server that the page adds to Claude Code lists the tools and runs what is approved', async () => {
  const door = await startCalling();
  const line = sample('sh', 'claude mcp add');
  const [, address = '', name = '', value = ''] = /(https:\S+) --header "([^:]+): ([^"]+)"/.exec(line) ?? [];
  expect(line).toContain('--transport http');
  const url = new URL(new URL(address).pathname, `http://127.0.0.1:${door.bot().port}`);
  const headers = { [name]: value.replace('$NIGHT_JOB_KEY', KEYS.pipeline) };
  const client = new Client({ name: 'docs', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('refund_order');
  const called = client.callTool({
    name: 'refund_order',
    arguments: { orderId: 'A-1001', amount: 12_000 },
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(JSON.stringify(await called)).toContain('12000');
  expect(await door.refunded()).toBe(12_000);
});

test('the command of the page asks, waits and applies the plan once', async () => {
  const door = await startCalling();
  const { cwd, PATH, applied } = workshop();
  const [program, ...args] = sample('sh', 'countersign ask').trim().split(' ');
  expect(program).toBe('countersign');
  const shell = countersign(door, args, { cwd, environment: { PATH } });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await shell.ended).toBe(0);
  expect(shell.out()).toBe('applied plan.bin\n');
  expect(applied()).toEqual(['apply plan.bin']);
});

test('the workflow of the page asks with the tokens of its job and applies the plan once', async () => {
  const Workflow = z.object({
    permissions: z.object({ 'id-token': z.literal('write') }).loose(),
    steps: z.tuple([
      z.object({ uses: z.string().startsWith('actions/checkout@') }).loose(),
      z.strictObject({ uses: z.literal('./countersign'), with: z.record(z.string(), z.string()) }),
    ]),
  });
  const { steps } = Workflow.parse(parse(sample('yaml', 'uses:')));
  const github = await startGithub();
  const door = await startCalling({ manifest: trustingGithub(github) });
  const { cwd, PATH, applied } = workshop();
  const url = `http://127.0.0.1:${door.bot().port}`;
  const ended = runAction(github, { cwd, inputs: { ...steps[1].with, url }, environment: { PATH } });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await ended).toBe(0);
  expect(applied()).toEqual(['apply plan.bin']);
});

test('the hook of the page asks in Slack by its rules, and reports what was done', async () => {
  const Settings = z.object({
    hooks: z.record(
      z.string(),
      z.tuple([
        z.object({
          hooks: z.tuple([
            z.object({ type: z.literal('command'), command: z.string(), timeout: z.number().optional() }),
          ]),
        }),
      ]),
    ),
  });
  const { hooks } = Settings.parse(JSON.parse(sample('json', 'hooks')));
  expect(Object.keys(hooks)).toEqual(['PreToolUse', 'PostToolUse']);
  const rules = sample('yaml', 'rules:');
  const { wait } = z.looseObject({ wait: z.number() }).parse(parse(rules));
  expect(hooks.PreToolUse?.[0].hooks[0].timeout).toBeGreaterThan(wait);
  const door = await startCalling();
  const home = temporaryFolder();
  const [folder, file] = [join(home, '.config/countersign'), 'hook.yml'];
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), rules);
  const play = (event: string, command: string) => {
    const name = event === 'PreToolUse' ? 'pre-tool-use' : 'post-tool-use';
    const fixture = new URL(`../commands/fixtures/hooks/claude-code-${name}.json`, import.meta.url);
    const payload = { ...JSON.parse(readFileSync(fixture, 'utf8')), tool_input: { command } };
    const [, ...args] = hooks[event]?.[0].hooks[0].command.split(' ') ?? [];
    const environment = { HOME: home, XDG_STATE_HOME: home };
    return countersign(door, args, { cwd: home, input: JSON.stringify(payload), environment });
  };
  const denied = play('PreToolUse', 'kubectl delete pod --context prod');
  const here = play('PreToolUse', 'make test');
  const asked = play('PreToolUse', 'terraform apply plan.bin');
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  const decisions = await Promise.all(
    [denied, here, asked].map(async (shell) => {
      expect(await shell.ended).toBe(0);
      return z
        .object({ hookSpecificOutput: z.looseObject({ permissionDecision: z.string() }) })
        .parse(JSON.parse(shell.out())).hookSpecificOutput.permissionDecision;
    }),
  );
  expect(decisions).toEqual(['deny', 'ask', 'allow']);
  expect(await play('PostToolUse', 'terraform apply plan.bin').ended).toBe(0);
  await door.place.shows(/release-pipeline ran “/);
});

test('the page names every address of the door', async () => {
  const door = await startCalling();
  const { body } = await door.send('GET', '/v1/openapi.json', { key: '' });
  const { paths } = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(body);
  for (const path of nonEmpty(Object.keys(paths))) expect(page).toContain(path);
});
