import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { disconnect } from '../../../src/commands/operate/disconnect.ts';
import { erase } from '../../../src/commands/operate/erase.ts';
import { CAST } from '../support.ts';
import { Browser, codeIn, KEY, linkIn, startAccountStory } from './support.ts';

const { requester: remi } = CAST;
const whoami = { calls: [{ name: 'whoami', arguments: {} }] };
const NEVER = '{ require: never }';

async function auditText(
  bot: Awaited<ReturnType<Awaited<ReturnType<typeof startAccountStory>>['startBot']>>,
) {
  const rows: string[] = [];
  for await (const row of bot.context.store.exportAudit()) rows.push(JSON.stringify(row));
  return rows.join('\n');
}

test('a token is renewed before it ends, and by one process at a time', async () => {
  const story = await startAccountStory({ replies: [whoami, { text: 'First.' }], approval: NEVER });
  const bot = await story.startBot();
  const other = await story.startBot({ settings: { ...story.setup.settings, port: 0 } });
  story.oauth.setLifetime(2);
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  story.oauth.setLifetime(3600);
  const [server] = bot.toolbox.requesterServers();
  if (server === undefined) throw new Error('there is no server');
  const accounts = [bot, other].map(({ context }) => context.accounts.connections);
  const [first = bot.context.accounts.connections] = accounts;
  await expect
    .poll(async () => {
      await first.token(server, remi);
      return story.oauth.tokensBy('refresh_token');
    })
    .toBeGreaterThan(0);
  const before = story.oauth.tokensBy('refresh_token');
  const current = await first.token(server, remi);
  const tokens = await Promise.all(
    [...accounts, ...accounts].map((connections) => connections.renew(server, remi, current)),
  );
  expect(new Set(tokens).size).toBe(1);
  expect(tokens).not.toContain(current);
  expect(story.oauth.tokensBy('refresh_token')).toBe(before + 1);
});

test('an account that its issuer has revoked is asked for again, and the call did not run', async () => {
  const replies = [
    whoami,
    { text: 'First.' },
    whoami,
    { text: 'It was not run.' },
    whoami,
    { text: 'Second.' },
  ];
  const story = await startAccountStory({ replies, approval: NEVER });
  const bot = await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  await story.oauth.revokeAll();
  story.mcp.refuseKnownTokens();
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/It was not run\./);
  expect(story.toldOfCalls().at(-1)).toContain('has no connected account');
  const again = story.ask('try again');
  await story.connect(again, 'remi-at-docs');
  await again.shows(/Second\./);
  expect(story.mcp.calls).toHaveLength(2);
  expect(await auditText(bot)).toMatch(/"event":"disconnected"/);
});

test('a person disconnects in Home: the issuer is told, the row is on record, and the next call asks again', async () => {
  const replies = [whoami, { text: 'First.' }, whoami];
  const story = await startAccountStory({ replies, approval: NEVER });
  const bot = await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  const person = story.workspace.as(remi);
  const homeWith = (words: RegExp) =>
    story.workspace.until(
      () => {
        const home = story.workspace.homeOf(remi);
        return home !== undefined && words.test(JSON.stringify(home.blocks)) ? home : undefined;
      },
      { what: `Home with ${words}` },
    );
  person.openHome();
  const home = await homeWith(/home-disconnect/);
  await person.click({ viewId: home.id }, 'home-disconnect');
  await homeWith(/home-connect/);
  expect(story.oauth.seen.some(({ path }) => path.startsWith('/token/revocation'))).toBe(true);
  expect(await auditText(bot)).toMatch(/"event":"disconnected"/);
  const next = story.ask('who am I now?');
  await next.shows(/Connect your account/);
});

test('a server that lists its tools for connected people only is connected in Home', async () => {
  const story = await startAccountStory({
    replies: [whoami, { text: 'Done.' }],
    approval: NEVER,
    server: { isListOpen: false },
  });
  const bot = await story.startBot();
  expect(bot.toolbox.servers()[0]?.lastError).toContain('nobody has connected an account yet');
  const person = story.workspace.as(remi);
  person.openHome();
  const home = await story.workspace.until(() => story.workspace.homeOf(remi), { what: 'Home' });
  await person.click({ viewId: home.id }, 'home-connect');
  const modal = await story.modalFor(remi, /Code from the page/);
  const { text } = await new Browser('remi-at-docs').visit(linkIn(modal.blocks));
  await person.submit(modal.id, { code: codeIn(text) });
  await expect.poll(() => bot.toolbox.servers()[0]?.tools).toContain('whoami');
  const thread = story.ask('who am I there?');
  await thread.shows(/Done\./);
  expect(story.mcp.calls).toEqual([{ tool: 'whoami', as: 'remi-at-docs' }]);
});

test('no secret is in Redis, in Slack, in the audit log or before the model in the clear', async () => {
  const echo = { calls: [{ name: 'echo_token', arguments: {} }] };
  const story = await startAccountStory({ replies: [echo, { text: 'Done.' }], approval: NEVER });
  const bot = await story.startBot();
  const thread = story.ask('what is my token?');
  const { modal, link } = await story.openModal(thread);
  const { text, url } = await new Browser('remi-at-docs').visit(link);
  const code = codeIn(text);
  await story.workspace.as(remi).submit(modal.id, { code });
  await thread.shows(/Done\./);
  const [token = 'none'] = story.mcp.tokens;
  const secrets = [
    token,
    KEY,
    code,
    new URL(url).searchParams.get('code') ?? 'none',
    link.split('/').at(-1) ?? 'none',
  ];

  const stored: string[] = [];
  for (const key of await story.redis.keys(`{${story.prefix}}:*`)) {
    stored.push(key, (await story.redis.dumpBuffer(key))?.toString('latin1') ?? '');
    if ((await story.redis.type(key)) === 'string') stored.push((await story.redis.get(key)) ?? '');
    if ((await story.redis.type(key)) === 'hash') stored.push(JSON.stringify(await story.redis.hgetall(key)));
  }
  const places = {
    redis: stored.join('\n'),
    thread: JSON.stringify(story.workspace.messagesIn(thread.channel, thread.ts)),
    audit: await auditText(bot),
    model: JSON.stringify(story.model.requests),
  };
  for (const [place, found] of Object.entries(places))
    for (const secret of secrets) expect(found.includes(secret), `a secret in ${place}`).toBe(false);
  expect(places.model).toContain('[redacted]');
  expect(places.redis).toContain('"key"');
});

test('an operator disconnects a person, and an erasure removes their accounts', async () => {
  const replies = [whoami, { text: 'First.' }, whoami, { text: 'Second.' }];
  const story = await startAccountStory({ replies, approval: NEVER });
  const bot = await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/First\./);
  const folder = await mkdtemp(join(tmpdir(), 'disconnect-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'manifest.yml');
  await writeFile(file, story.manifest);
  let output = '';
  const write = async (text: string) => {
    output += text;
  };
  const environment = {
    ...story.environment,
    MANIFEST: file,
    REDIS_URL: inject('redisUrl'),
    CONNECTIONS_KEY: KEY,
  };
  const context = { environment, prefix: story.prefix, write, writeError: write };
  expect(await disconnect.run([remi, 'docs'], context)).toBe(0);
  expect(output).toBe('disconnected: docs\n');
  expect(story.oauth.seen.some(({ path }) => path.startsWith('/token/revocation'))).toBe(true);
  expect(await disconnect.run([remi], context)).toBe(1);
  expect(await auditText(bot)).toMatch(/operator:/);

  const again = story.ask('who am I there?');
  await story.connect(again, 'remi-at-docs');
  await again.shows(/Second\./);
  await erase.run([remi, '--json'], context);
  expect(output).toContain('"accounts":1');
  expect(await story.redis.keys(`{${story.prefix}}:connections:*`)).toEqual([]);
});
