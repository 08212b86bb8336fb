import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';
import { accountsIn } from '../../../src/store/documents/accounts.ts';
import { Sealer } from '../../../src/tools/mcp/auth/connections.ts';
import { Grant } from '../../../src/tools/mcp/auth/grant.ts';
import { jsonLines, run, writeManifest } from '../../commands/support.ts';
import { CLIENT_SECRET, serveOAuth } from '../../tools/mcp/auth/fixtures/oauth-server.ts';
import { CAST } from '../support.ts';
import { Browser, codeIn, KEY, startAccountStory } from './support.ts';

const { requester: remi, alice } = CAST;
const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
const NEVER = '{ require: never }';
const Stored = z.object({ version: z.string(), sealed: z.string() });
const Report = z.object({
  findings: z.array(z.object({ check: z.string(), status: z.string(), message: z.string() })),
});
const Sealed = z.object({ key: z.string() });

type Story = Awaited<ReturnType<typeof startAccountStory>>;
type Bot = Awaited<ReturnType<Story['startBot']>>;

/** The account of the requester as it is stored, and the id of the key that encrypts it. */
async function storedAccount(
  { context: { store } }: Bot,
  key = KEY,
): Promise<{ keyId: string; grant: Grant }> {
  const { sealed } = Stored.parse(await accountsIn(store).readConnection('docs', remi));
  const sealer = Sealer.read(key);
  if (typeof sealer === 'string') throw new Error(sealer);
  const grant = Grant.parse(JSON.parse(sealer.open(`connection|docs|${remi}`, sealed) ?? 'null'));
  return { keyId: Sealed.parse(JSON.parse(sealed)).key, grant };
}

const environmentOf = (story: Story, changes: Record<string, string> = {}) => ({
  MANIFEST: writeManifest(story.manifest),
  REDIS_URL: inject('redisUrl'),
  CONNECTIONS_KEY: KEY,
  CLIENT_SECRET,
  PUBLIC_URL: story.publicUrl,
  ...changes,
});

test('a server that wants an account is locked with the account of a named person, and else with one clear error', async () => {
  const story = await startAccountStory({
    replies: [whoami, { text: 'Done.' }],
    approval: NEVER,
    server: { isListOpen: true },
  });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/Done\./);
  story.mcp.closeList();
  const environment = environmentOf(story);
  const lock = join(dirname(environment.MANIFEST), 'manifest.lock.json');
  const lockAs = (...args: string[]) => run(['manifest', 'lock', ...args], environment, story.prefix);
  const without = await lockAs();
  expect(without).toMatchObject({ code: 1, out: '' });
  expect(without.error).toMatch(/nothing was locked[\s\S]*docs: .*name one of them with --as PERSON/);
  expect((await lockAs('--as', alice)).error).toContain(`${alice} has not connected an account there`);
  expect((await lockAs('--as', 'no person')).code).toBe(2);
  expect(existsSync(lock)).toBe(false);
  expect(await lockAs('--as', remi)).toMatchObject({ code: 0, error: '' });
  expect(existsSync(lock)).toBe(true);
});

test('doctor checks key, address and metadata of accounts', async () => {
  const story = await startAccountStory({ replies: [] });
  const findings = async (changes: Record<string, string> = {}, manifest = story.manifest) => {
    const environment = { ...environmentOf(story, changes), MANIFEST: writeManifest(manifest) };
    const { out } = await run(['doctor', '--json'], environment, story.prefix);
    return Report.parse(jsonLines(out)[0])
      .findings.filter(({ check }) => /^connections|^accounts/.test(check))
      .map(({ check, status, message }) => `${status}: ${check}: ${message}`);
  };
  expect(await findings()).toEqual([
    'ok: connections key: accounts are encrypted',
    'warning: connections address: PUBLIC_URL is not HTTPS, so codes can be read on the way',
    `ok: accounts at docs: people log in at ${story.oauth.issuer}`,
  ]);
  const [noKey, noAddress] = await findings({ CONNECTIONS_KEY: '', PUBLIC_URL: '' });
  expect(noKey).toContain('failed: connections key: CONNECTIONS_KEY is not set');
  expect(noAddress).toContain('failed: connections address: PUBLIC_URL is not set');
  expect((await findings({ CONNECTIONS_KEY: 'too short' }))[0]).toContain('must be 32 random bytes');
  const other = await serveOAuth();
  const wrong = story.manifest.replace(`issuer: "${story.oauth.issuer}"`, `issuer: "${other.issuer}"`);
  expect((await findings({}, wrong))[2]).toMatch(/^failed: accounts at docs: .*but auth\.issuer is/);
  await other.stop();
});

test('a rotated key: the old one still reads, the new one writes, and without the old one people connect again', async () => {
  const replies = [
    whoami,
    { text: 'First.' },
    whoami,
    { text: 'Second.' },
    whoami,
    { text: 'Third.' },
    whoami,
  ];
  const story = await startAccountStory({ replies, approval: NEVER });
  const first = await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  const { keyId: oldId } = await storedAccount(first);
  await first.stop();

  const fresh = randomBytes(32).toString('base64');
  const both = `${fresh},${KEY}`;
  const restart = (connectionsKey: string) =>
    story.startBot({ settings: { ...story.setup.settings, connectionsKey } });
  const second = await restart(both);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/Second\./);
  const { grant, keyId } = await storedAccount(second, both);
  expect(keyId).toBe(oldId);
  const [server] = second.toolbox.requesterServers();
  if (server === undefined) throw new Error('there is no server');
  await second.context.accounts.connections.renew(server, remi, grant.accessToken);
  expect((await storedAccount(second, fresh)).keyId).not.toBe(oldId);
  await second.stop();

  const third = await restart(fresh);
  story.ask('and then?', { threadTs: thread.ts });
  await thread.shows(/Third\./);
  expect(story.oauth.tokensBy('authorization_code')).toBe(1);
  await third.stop();

  await restart(randomBytes(32).toString('base64'));
  story.ask('and at last?', { threadTs: thread.ts });
  await thread.shows(/Needs an account/);
});

test('no token, code, verifier or secret is in a log line, a metric, the audit log, the record or the thread', async () => {
  const echo = { calls: [{ name: 'echo_token', arguments: {} }] };
  const story = await startAccountStory({
    replies: [echo, { text: 'Done.' }, whoami, { text: 'It was not run.' }],
    approval: NEVER,
  });
  const { lines, logger } = keptLines(story);
  const bot = await story.startBot({ logger });
  const thread = story.ask('what is my token?');
  const { modal, link } = await story.openModal(thread);
  const { text, url } = await new Browser('remi-at-docs').visit(link);
  await story.workspace.as(remi).submit(modal.id, { code: codeIn(text) });
  await thread.shows(/Done\./);
  const before = (await storedAccount(bot)).grant;
  const [server] = bot.toolbox.requesterServers();
  if (server === undefined) throw new Error('there is no server');
  await bot.context.accounts.connections.renew(server, remi, before.accessToken);
  const after = (await storedAccount(bot)).grant;
  // A failure on the way is where a token would slip into a message.
  await story.oauth.revokeAll();
  story.mcp.refuseKnownTokens();
  story.mcp.refuse(after.accessToken);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/It was not run\./);
  await story.deliveredAll();

  const secrets = {
    'first access token': before.accessToken,
    'first refresh token': before.refreshToken ?? 'none',
    'second access token': after.accessToken,
    'second refresh token': after.refreshToken ?? 'none',
    'key of accounts': KEY,
    'client secret': CLIENT_SECRET,
    'code on the page': codeIn(text),
    'authorization code': new URL(url).searchParams.get('code') ?? 'none',
    'token of the link': link.split('/').at(-1) ?? 'none',
  };
  expect(Object.values(secrets)).not.toContain('none');
  const rows: string[] = [];
  for await (const row of bot.context.store.exportAudit()) rows.push(JSON.stringify(row));
  const places = {
    logs: lines.join('\n'),
    metrics: await bot.context.metrics.text(),
    audit: rows.join('\n'),
    record: await everythingIn(story),
    slack: JSON.stringify(story.workspace.messagesIn(thread.channel, thread.ts)),
    model: JSON.stringify(story.model.bodies),
  };
  expect(lines.length).toBeGreaterThan(10);
  for (const [place, found] of Object.entries(places))
    for (const [name, secret] of Object.entries(secrets))
      expect(found.includes(secret), `the ${name} in ${place}`).toBe(false);
});

/** Keeps all that a bot logs, redacted as in the product. */
function keptLines({ setup: { secrets } }: Story) {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(secrets.redact(line)) };
  return { lines, logger: pino({ level: 'trace' }, stream) };
}

/** All keys and values of a story in Redis. */
async function everythingIn({ redis, prefix }: Story): Promise<string> {
  const found: string[] = [];
  for (const key of await redis.keys(`{${prefix}}:*`)) {
    const type = await redis.type(key);
    found.push(key);
    if (type === 'string') found.push((await redis.get(key)) ?? '');
    if (type === 'hash') found.push(JSON.stringify(await redis.hgetall(key)));
    if (type === 'list') found.push(...(await redis.lrange(key, 0, -1)));
    if (type === 'zset') found.push(...(await redis.zrange(key, '0', '-1')));
    if (type === 'set') found.push(...(await redis.smembers(key)));
    if (type === 'stream') found.push(JSON.stringify(await redis.xrange(key, '-', '+')));
  }
  return found.join('\n');
}
