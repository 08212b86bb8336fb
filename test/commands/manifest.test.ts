import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { GOOD, jsonLines, newFolder, run, writeManifest } from './support.ts';

test('a good manifest is said to be so', async () => {
  const file = writeManifest(GOOD);
  expect(await run(['manifest', 'check', file])).toEqual({
    code: 0,
    out: `${file}: ok (tools: 0, policies: 1)\n`,
    error: '',
  });
});

test('every mistake is a line with its place, and the exit code is 1', async () => {
  const file = writeManifest(GOOD.replace('[S0APPROVE1]', '[alice]').replace('tools:', 'tolls:'));
  const { code, out, error } = await run(['manifest', 'check', file]);
  expect([code, out]).toEqual([1, '']);
  expect(error.trim().split('\n')).toEqual([
    expect.stringContaining(`${file}:1:`),
    expect.stringMatching(/:2:1: .*did you mean "tools"/),
  ]);
});

test('for a machine the mistakes are one JSON object', async () => {
  const file = writeManifest(GOOD.replace('tools:', 'tolls:'));
  const { code, out } = await run(['manifest', 'check', '--json', file]);
  expect(code).toBe(1);
  expect(jsonLines(out)).toMatchObject([
    { ok: false, file, problems: [{ line: 2, column: 1, message: expect.any(String) }], warnings: [] },
  ]);
});

const MONEY = `export const refund = {
  kind: 'tool', name: 'refund', description: 'Refunds.', effect: 'once', run: async () => 'done', matches: () => false,
  inputSchema: { jsonSchema: { type: 'object' } },
};
`;
const NAMED = `${GOOD.replace('tools: {}', '')}limits:
  refnd: { window: 1d, max: 5 }
  refund: { window: 1d, max: 5 }
  greet: { window: 1d, max: 5 }
tools:
  money: { module: ./money.mjs, approval: { policy: default } }
  host: { mcp: { command: node }, approval: { policy: default }, cards: [{ match: great, title: Greet }] }
`;

test('a limit for a tool that neither a module nor the lock file has is a mistake; without a lock file nobody knows', async () => {
  const folder = newFolder();
  const file = writeManifest(NAMED, folder);
  writeFileSync(join(folder, 'money.mjs'), MONEY);
  expect(await run(['manifest', 'check', file])).toMatchObject({ code: 0 });
  const lock = { version: 1, servers: { host: { greet: 'digest' } } };
  writeFileSync(join(folder, 'manifest.lock.json'), JSON.stringify(lock));
  const { code, error } = await run(['manifest', 'check', file]);
  expect(code).toBe(1);
  expect(error.trim().split('\n')).toEqual([
    expect.stringMatching(/:\d+:3: limits\.refnd: there is no tool "refnd"; did you mean "refund"\?$/),
    expect.stringMatching(
      /:\d+:83: tools\.host\.cards\[0\]\.match: there is no tool "great"; did you mean "greet"\?$/,
    ),
  ]);
});

test('`answers` and `errors` that name no tool of their server are mistakes; without a lock file nobody knows', async () => {
  const folder = newFolder();
  const lists = 'answers: { free: ["book_*", boook_table] }, errors: { final: ["greet", "red_*"] }';
  const file = writeManifest(
    `${GOOD.replace('tools: {}', '')}tools:
  host: { mcp: { command: node, ${lists} }, approval: { policy: default } }
`,
    folder,
  );
  expect(await run(['manifest', 'check', file])).toMatchObject({ code: 0 });
  const lock = { version: 1, servers: { host: { greet: 'digest', book_table: 'digest' } } };
  writeFileSync(join(folder, 'manifest.lock.json'), JSON.stringify(lock));
  const { code, error } = await run(['manifest', 'check', file]);
  expect(code).toBe(1);
  expect(error.trim().split('\n')).toEqual([
    expect.stringMatching(
      /tools\.host\.mcp\.answers\.free\[1\]: there is no tool "boook_table"; did you mean "book_table"\?$/,
    ),
    expect.stringMatching(/tools\.host\.mcp\.errors\.final\[1\]: there is no tool "red_\*"$/),
  ]);
});

test('ids that are still placeholders are warnings of a check, and Slack’s part can be used with them', async () => {
  const file = writeManifest(GOOD.replace('S0APPROVE1', 'S0REPLACEME'));
  const { code, out, error } = await run(['manifest', 'check', file]);
  expect([code, out]).toEqual([0, `${file}: ok (tools: 0, policies: 1)\n`]);
  expect(error).toBe(
    `warning: ${file}:1:36: policies.default.approvers[0]: "S0REPLACEME" is a placeholder; replace it with the id of a user group of your workspace\n`,
  );
  expect(await run(['manifest', 'slack', file])).toMatchObject({ code: 0, error: '' });
  expect(await run(['manifest', 'link', file])).toMatchObject({ code: 0, error: '' });
});

test('a policy that allows delegation wants mentions in the slash command, else there is a warning', async () => {
  const checkedWith = async (more: string, policy: string) => {
    const command = `slash_commands: [{ command: /countersign, description: Approvals${more} }]`;
    const text = GOOD.replace('[S0APPROVE1]', `[S0APPROVE1]${policy}`);
    return run(['manifest', 'check', writeManifest(`slack: { features: { ${command} } }\n${text}`)]);
  };
  const { code, error } = await checkedWith('', ', delegation: true');
  expect(code).toBe(0);
  expect(error).toMatch(
    /^warning: .*slash_commands: a policy allows delegation, but the slash command can't resolve mentions/,
  );
  expect(await checkedWith(', should_escape: true', ', delegation: true')).toMatchObject({ error: '' });
  expect(await checkedWith('', '')).toMatchObject({ code: 0, error: '' });
});

test('a change of the rules that needs less than the rules is a warning, and a passkey without a page an error', async () => {
  const page = `page: { client_id: "1.2", client_secret: "\${PAGE_SECRET}" }\n`;
  const checkedWith = async (changes: string, policy: string, more = page) => {
    const agent = `agent: { instructions: Help., policy_changes: { approvers: [S0SECURITY], channel: C0POLICIES${changes} } }`;
    const text = `${agent}\n${more}${GOOD.replace('[S0APPROVE1]', `[S0APPROVE1]${policy}`)}`;
    return run(['manifest', 'check', writeManifest(text)], { PAGE_SECRET: 'shh' });
  };
  const signed = await checkedWith('', ', confirm: { high: passkey }');
  expect(signed).toMatchObject({ code: 0 });
  expect(signed.error).toMatch(
    /^warning: .*: agent\.policy_changes: approvals of the policy "default" are signed with a passkey, but a click changes the rules; set confirm: passkey here as well\n$/,
  );
  expect((await checkedWith(', confirm: passkey', ', quorum: 2, confirm: passkey')).error).toMatch(
    /^warning: .*: agent\.policy_changes: the policy "default" needs 2 approvals, but a change of the rules needs 1; set quorum: 2 here as well\n$/,
  );
  const strict = ', quorum: 2, confirm: passkey';
  expect(await checkedWith(strict, strict)).toMatchObject({ code: 0, error: '' });
  expect(await checkedWith('', '')).toMatchObject({ code: 0, error: '' });
  const without = await checkedWith(', confirm: passkey', '', '');
  expect(without).toMatchObject({ code: 1 });
  expect(without.error).toMatch(
    /agent\.policy_changes\.confirm: people sign with a passkey on the page, and there is none/,
  );
});

test('the file is the one named, else that of MANIFEST', async () => {
  const good = writeManifest(GOOD);
  const bad = writeManifest('tolls: {}\n');
  expect(await run(['manifest', 'check'], { MANIFEST: bad })).toMatchObject({ code: 1 });
  expect(await run(['manifest', 'check', good], { MANIFEST: bad })).toMatchObject({ code: 0 });
});

test.each([['check'], ['slack'], ['link']])('manifest %s says that there is no such file', async (verb) => {
  const file = join(newFolder(), 'none.yml');
  const { code, error } = await run(['manifest', verb, file]);
  expect([code, error]).toEqual([
    1,
    `countersign manifest ${verb}: there is no ${file}; name the file, set MANIFEST in .env to its path, or make one with "countersign init"\n`,
  ]);
});

test('a secret that is missing is named, and one that is there is not shown', async () => {
  const http = `http: { method: GET, url: "https://example.com/", headers: { a: "\${KEY_OF_OURS}" } }`;
  const file = writeManifest(GOOD.replace('tools: {}', `tools: { ping: { description: Pings., ${http} } }`));
  const missing = await run(['manifest', 'check', file]);
  expect(missing).toMatchObject({ code: 1, error: expect.stringContaining('KEY_OF_OURS is not set') });
  const there = await run(['manifest', 'check', '--json', file], { KEY_OF_OURS: 'hidden-word' });
  expect([there.code, JSON.stringify(there).includes('hidden-word')]).toEqual([0, false]);
});

test('Slack’s part comes as YAML or JSON, for Socket Mode or a URL, and can be piped on', async () => {
  const file = writeManifest(GOOD);
  const yaml = await run(['manifest', 'slack', file]);
  const json = await run(['manifest', 'slack', '--json', file]);
  expect([yaml.code, json.code, yaml.error, json.error]).toEqual([0, 0, '', '']);
  expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
  expect(JSON.parse(json.out)).toMatchObject({
    display_information: { name: 'Countersign' },
    settings: { socket_mode_enabled: true },
  });
  const http = await run(['manifest', 'slack', '--json', '--http', 'https://bot.example.com', file]);
  expect(JSON.parse(http.out).settings).toMatchObject({
    socket_mode_enabled: false,
    event_subscriptions: { request_url: 'https://bot.example.com/slack/events' },
  });
});

test('the link opens Slack’s page with the same manifest', async () => {
  const file = writeManifest(GOOD);
  const { code, out } = await run(['manifest', 'link', file]);
  expect(code).toBe(0);
  const url = new URL(out.trim());
  expect([url.origin, url.pathname]).toEqual(['https://api.slack.com', '/apps']);
  const { out: printed } = await run(['manifest', 'slack', '--json', file]);
  expect(JSON.parse(url.searchParams.get('manifest_json') ?? '')).toEqual(JSON.parse(printed));
});

test('of a manifest with mistakes nothing is printed but the mistakes', async () => {
  const file = writeManifest(GOOD.replace('tools:', 'tolls:'));
  for (const verb of ['slack', 'link']) {
    const { code, out, error } = await run(['manifest', verb, file]);
    expect([code, out]).toEqual([1, '']);
    expect(error).toMatch(/:2:1: /);
  }
});

test('at a terminal the link comes with the steps after it; a script gets the link alone', async () => {
  const file = writeManifest(GOOD);
  const alone = await run(['manifest', 'link', file]);
  expect(alone.out).toMatch(/^https:\/\/\S+\n$/);
  let out = '';
  const write = async (text: string) => {
    out += text;
  };
  const context = { environment: {}, write, writeError: write, input: new PassThrough() };
  expect(await runCommandLine(['manifest', 'link', file], context)).toBe(0);
  expect(out).toContain(alone.out);
  for (const words of ['"Install App"', '"OAuth & Permissions"', '"App-Level Tokens"', '/invite'])
    expect(out).toContain(words);
});
