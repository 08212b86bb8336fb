import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { parseEnv } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { APPROVERS_GROUP, CAST, DEFAULT_SCOPES } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { publicPemOf, readSigningKey } from '../../src/audit/signing-key.ts';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { newFolder, run } from './support.ts';

/** A Slack, a model and a Redis; the model waits for the doctor if there is one. */
async function surroundings(options: { scopes?: readonly string[]; doctor?: boolean } = {}) {
  const { slack: _slack, ...environment } = await workspace(options);
  return environment;
}

async function workspace({
  scopes = DEFAULT_SCOPES,
  doctor = true,
}: {
  scopes?: readonly string[];
  doctor?: boolean;
} = {}) {
  const slack = await startLocalSlack({ app: { scopes } });
  const model = await startLocalModel({
    script: doctor ? [{ calls: [{ name: 'ping', arguments: { word: 'ok' } }] }] : [],
  });
  onTestFinished(async () => {
    await slack.stop();
    await model.stop();
  });
  return {
    slack,
    SLACK_API_URL: slack.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    OPENAI_API_KEY: 'hidden-word',
    OPENAI_BASE_URL: model.url,
    REDIS_URL: inject('redisUrl'),
  };
}

/** Runs `init` at a terminal at which these lines are typed. */
async function type(argv: readonly string[], lines: readonly string[], environment: Record<string, string>) {
  const input = new PassThrough();
  input.end(lines.map((line) => `${line}\n`).join(''));
  let out = '';
  const write = async (text: string) => {
    out += text;
  };
  const code = await runCommandLine(['init', ...argv], { environment, write, writeError: write, input });
  return { code, out };
}

const PEOPLE = ['--approvers', '@approvers,Alice Moreau', '--admins', 'ada'];

test('with flags only it writes a manifest that is valid, with ids and names, and a .env that only its owner reads', async () => {
  const environment = await surroundings();
  const folder = newFolder();
  const { out } = await run(['init', folder, ...PEOPLE, '--model', 'scripted'], environment);
  for (const name of ['manifest.yml', '.env', 'tools/open-ticket.mts', 'compose.yml', '.gitignore'])
    expect(out).toContain(`wrote   ${name}\n`);
  const text = readFileSync(join(folder, 'manifest.yml'), 'utf8');
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  expect([parsed.placeholders, parsed.warnings]).toEqual([[], []]);
  expect(parsed.manifest.policies.get('default')?.approvers).toEqual([APPROVERS_GROUP, CAST.alice]);
  expect(text).toContain(`- ${APPROVERS_GROUP} # @approvers\n      - ${CAST.alice} # Alice Moreau\n`);
  expect(text).toContain(`- ${CAST.admin} # Ada Okafor\n`);
  const saved = join(folder, '.env');
  expect(statSync(saved).mode & 0o777).toBe(0o600);
  expect(parseEnv(readFileSync(saved, 'utf8'))).toEqual({
    ...environment,
    OPENAI_MODEL: 'scripted',
    AUDIT_KEY_FILE: 'audit-key.pem',
  });
  expect(out).not.toMatch(/hidden-word|xoxb-|xapp-|PRIVATE KEY/);
  const publicKey = readFileSync(join(folder, 'audit-key.pub.pem'), 'utf8');
  expect(out).toContain(publicKey);
  expect(publicKey).toBe(publicPemOf(await readSigningKey({ file: join(folder, 'audit-key.pem') })));
});

test('an address of the model without https:// or http:// is refused before anything is written', async () => {
  const folder = newFolder();
  const base = ['--base-url', 'localhost:11434/v1'];
  const { code, error } = await run(
    ['init', folder, ...PEOPLE, ...base],
    await surroundings({ doctor: false }),
  );
  expect([code, error]).toEqual([
    1,
    expect.stringContaining('is not a URL that begins with https:// or http://'),
  ]);
  expect(existsSync(join(folder, '.env'))).toBe(false);
});

test('it ends with the doctor and with the one command that comes next', async () => {
  const folder = newFolder();
  const { code, out } = await run(['init', folder, ...PEOPLE], await surroundings());
  // What the sample tool imports is not installed yet, so it is not loaded.
  expect(code).toBe(0);
  expect(out).toMatch(/^ok +slack bot token: /m);
  expect(out).not.toContain('tool open_ticket');
  expect(out).toMatch(/\nNext: cd \S+ && npm install && npx countersign start\n$/);
});

test('a file that exists is never replaced, and the settings of an existing .env are used', async () => {
  const environment = await surroundings();
  const folder = newFolder();
  const { SLACK_BOT_TOKEN: token, ...others } = environment;
  writeFileSync(join(folder, 'manifest.yml'), 'mine\n');
  writeFileSync(join(folder, '.env'), `SLACK_BOT_TOKEN=${token}\n`);
  const { out } = await run(['init', folder, ...PEOPLE], others);
  expect(out).toContain('exists  manifest.yml, left as it is\nexists  .env, left as it is\n');
  expect(readFileSync(join(folder, 'manifest.yml'), 'utf8')).toBe('mine\n');
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(`SLACK_BOT_TOKEN=${token}\n`);
});

test.each([
  [['--approvers', 'nobody', '--admins', 'ada'], 1, '--approvers: there is nobody called "nobody"'],
  [['--approvers', 'more', '--admins', 'ada'], 1, '"more" can be Alice Moreau (U0ALICE002), Bruno'],
  [['--approvers', 'alice', '--admins', '@approvers'], 1, '--admins: @approvers is a user group'],
  [['--approvers', 'alice'], 2, '--admins is missing; set it, because this is not an interactive terminal'],
  [['--approvers', 'alice@corner-shop.example', '--admins', 'ada'], 1, 'add the scope users:read.email'],
])('%j is refused, and nothing is written', async (flags, exitCode, why) => {
  const folder = join(newFolder(), 'new');
  const { code, error } = await run(['init', folder, ...flags], await surroundings({ doctor: false }));
  expect([code, existsSync(folder)]).toEqual([exitCode, false]);
  expect(error).toContain(why);
});

test('a token that Slack rejects is refused at once', async () => {
  const environment = { ...(await surroundings({ doctor: false })), SLACK_BOT_TOKEN: 'xoxb-wrong' };
  const { code, error } = await run(['init', newFolder(), ...PEOPLE], environment);
  expect([code, error]).toEqual([
    1,
    'countersign init: SLACK_BOT_TOKEN: Slack rejects this token (invalid_auth); copy it again\n',
  ]);
});

test('an address finds its person where the app may read addresses', async () => {
  const environment = await surroundings({ scopes: [...DEFAULT_SCOPES, 'users:read.email'] });
  const folder = newFolder();
  await run(['init', folder, '--approvers', 'alice@corner-shop.example', '--admins', 'ada'], environment);
  expect(readFileSync(join(folder, 'manifest.yml'), 'utf8')).toContain(`- ${CAST.alice} # Alice Moreau\n`);
});

test('at a terminal it walks through Slack’s pages, and asks again after a wrong answer', async () => {
  const {
    SLACK_BOT_TOKEN: bot,
    SLACK_APP_TOKEN: app,
    OPENAI_API_KEY: _key,
    ...others
  } = await surroundings();
  const folder = newFolder();
  const typed = ['y', 'xoxb-wrong', bot, app, 'nobody', 'alice', 'ada', 'secret', 'scripted'];
  const { out } = await type([folder], typed, others);
  expect(out).toMatch(/Open this link.*\n +https:\/\/api\.slack\.com\/apps\?new_app=1&manifest_json=/);
  expect(out).toContain('"Generate Token and Scopes"');
  expect(out).toContain('Slack rejects this token (invalid_auth); copy it again');
  expect(out).toContain('there is nobody called "nobody"');
  expect(parseEnv(readFileSync(join(folder, '.env'), 'utf8'))).toMatchObject({
    SLACK_BOT_TOKEN: bot,
    SLACK_APP_TOKEN: app,
    OPENAI_API_KEY: 'secret',
    OPENAI_MODEL: 'scripted',
  });
});

test('in a workspace without a paid plan it says what is missing, and leaves it out of the app', async () => {
  const { slack, ...environment } = await workspace();
  slack.workspace.fallShort('free-plan');
  const folder = newFolder();
  const { out } = await run(['init', folder, '--approvers', 'alice', '--admins', 'ada'], environment);
  expect(out).toMatch(/^Without a paid plan of Slack the bot works in channels and messages\./m);
  const text = readFileSync(join(folder, 'manifest.yml'), 'utf8');
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  expect(parsed.ok && JSON.stringify(parsed.manifest.slack)).not.toMatch(
    /agent_view|assistant:write|agent_session/,
  );
});

test('whoever says that there is no paid plan gets a link to an app without the agent view, before any token', async () => {
  const { SLACK_BOT_TOKEN: _bot, ...others } = await surroundings({ doctor: false });
  const { out } = await type([newFolder()], ['maybe', 'n'], others);
  expect(out).toMatch(/^Is the workspace on a paid plan of Slack\? \(y\/n\) \[y\]: {3}answer y or n$/m);
  const [link = ''] = out.match(/https:\S+manifest_json=\S+/) ?? [];
  expect(decodeURIComponent(link)).toContain('"bot_events"');
  expect(decodeURIComponent(link)).not.toMatch(/agent_view|assistant:write/);
});

test('what is typed at a terminal is shown, and a token or a key never is', async () => {
  const {
    SLACK_BOT_TOKEN: bot,
    SLACK_APP_TOKEN: app,
    OPENAI_API_KEY: _key,
    ...others
  } = await surroundings();
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const lines = ['y', bot, app, 'alice', 'ada', 'key-typed', 'scripted'];
  let out = '';
  const write = async (text: string) => {
    out += text;
    // The next answer is typed when it is asked for.
    if (/: $/.test(text)) input.write(`${lines.shift() ?? ''}\r`);
  };
  await runCommandLine(['init', newFolder()], { environment: others, write, writeError: write, input });
  input.end();
  expect(lines).toEqual([]);
  expect(out).toContain('alice');
  for (const secret of [bot, app, 'key-typed']) expect(out).not.toContain(secret);
});

test('for HTTP it asks for the signing secret and keeps the public URL', async () => {
  const { SLACK_APP_TOKEN: _app, ...others } = await surroundings();
  const folder = newFolder();
  const environment = { ...others, SLACK_SIGNING_SECRET: 'signing' };
  await run(['init', folder, ...PEOPLE, '--http', 'https://bot.example.com'], environment);
  const saved = parseEnv(readFileSync(join(folder, '.env'), 'utf8'));
  expect(saved).toMatchObject({ SLACK_SIGNING_SECRET: 'signing', PUBLIC_URL: 'https://bot.example.com' });
  expect(saved.SLACK_APP_TOKEN).toBeUndefined();
});

test('an input that ends before the last answer ends it, and nothing is written', async () => {
  const folder = join(newFolder(), 'new');
  const { code, out } = await type([folder], [''], await surroundings({ doctor: false }));
  expect([code, existsSync(folder)]).toEqual([1, false]);
  expect(out).toContain('the input has ended; nothing was written');
});
