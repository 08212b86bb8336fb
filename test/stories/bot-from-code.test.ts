import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import {
  type BotOptions,
  createBot,
  defineTool,
  type Model,
  type ModelReply,
  type ModelRequest,
  StartError,
} from '../../src/index.ts';
import { newFolder, run } from '../commands/support.ts';
import { clickCard } from '../support/click-card.ts';
import { PATIENT_SLACK } from '../support/patience.ts';
import { CAST, PLACES, SHIPPED_APP } from './support.ts';

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { admins: [${CAST.admin}], model: { name: gpt-6-luna, fallbacks: [gpt-6-astra] } }
policies:
  default: { approvers: [${CAST.alice}], notify: { direct_messages: false } }
tools:
  book_room: { code: true, title: "Book {{input.room}}", approval: { require: never } }
`;

/** A model in a few lines, as a program with another provider has one. */
function scripted(script: readonly (string | { readonly tool: string; readonly input: object })[]) {
  const requests: ModelRequest[] = [];
  const model: Model = {
    name: 'scripted',
    async reply(request): Promise<ModelReply> {
      const next = script[requests.push(request) - 1];
      if (next === undefined) throw new Error('The script is over');
      const calls =
        typeof next === 'string'
          ? []
          : [{ id: randomUUID(), name: next.tool, arguments: JSON.stringify(next.input) }];
      return { finish: 'stop', text: typeof next === 'string' ? next : '', calls, usage: undefined };
    },
  };
  return { model, requests };
}

function twoTools() {
  const ran: string[] = [];
  const bookRoom = defineTool(
    { name: 'book_room', description: 'Books a room.', inputSchema: z.object({ room: z.string() }) },
    async ({ room }) => {
      ran.push(`booked ${room}`);
      return { booked: room };
    },
  );
  const transferMoney = defineTool(
    {
      name: 'transfer_money',
      description: 'Transfers money to an account.',
      inputSchema: z.object({ to: z.string(), amount: z.number() }),
    },
    async ({ to, amount }) => {
      ran.push(`sent ${amount} to ${to}`);
      return { sent: amount };
    },
  );
  return { tools: [bookRoom, transferMoney], ran };
}

async function program(text = MANIFEST) {
  const slack = await startLocalSlack({ timings: PATIENT_SLACK, app: SHIPPED_APP });
  onTestFinished(() => slack.stop());
  const folder = newFolder();
  const manifest = join(folder, 'manifest.yml');
  writeFileSync(manifest, text);
  const environment = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: `code-${randomUUID()}`,
    PORT: '0',
    LOG_LEVEL: 'silent',
  };
  const create = (options: BotOptions) => {
    const bot = createBot({ manifest, environment, ...options });
    onTestFinished(() => bot.stop());
    return bot;
  };
  const { workspace } = slack;
  const ask = (words: string) => {
    const { ts } = workspace
      .as(CAST.requester)
      .send(PLACES.general, `<@${workspace.state.app.botUserId}> ${words}`);
    const shows = (expected: RegExp) =>
      workspace.until(
        () =>
          workspace
            .messagesIn(PLACES.general, ts)
            .find((message) => expected.test(`${message.text}${JSON.stringify(message.blocks ?? [])}`)),
        { what: String(expected) },
      );
    const approve = async (expected: RegExp) => {
      const card = await shows(expected);
      return clickCard(workspace, CAST.alice, { channel: PLACES.general, ts: card.ts }, 'approve');
    };
    return { shows, approve };
  };
  return { create, ask, manifest, environment, workspace };
}

test('a program gives two tools and a model: one runs by its rule, the other after its card was approved', async () => {
  const { create, ask } = await program();
  const { tools, ran } = twoTools();
  const { model, requests } = scripted([
    { tool: 'book_room', input: { room: 'Red' } },
    { tool: 'transfer_money', input: { to: 'ABC', amount: 100 } },
    'All done.',
  ]);
  const bot = create({ tools, model });
  const { port } = await bot.start();
  expect((await fetch(`http://localhost:${port}/ready`)).status).toBe(200);
  const { shows, approve } = ask('book Red and pay ABC');
  await shows(/Transfer money[\s\S]*ABC[\s\S]*approve/i);
  expect(ran).toEqual(['booked Red']);
  await approve(/approve/);
  await shows(/All done\./);
  expect(ran).toEqual(['booked Red', 'sent 100 to ABC']);
  expect(requests[0]?.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['book_room', 'transfer_money']),
  );
  await bot.stop();
  await expect(fetch(`http://localhost:${port}/ready`)).rejects.toThrow();
});

test('a bot starts once and stops once, however often it is told, and starts again after a stop', async () => {
  const { create, ask } = await program();
  const { tools } = twoTools();
  const bot = create({ tools, model: scripted(['Hello.']).model });
  await bot.stop();
  const [first, second] = await Promise.all([bot.start(), bot.start()]);
  expect(second.port).toBe(first.port);
  await Promise.all([bot.stop(), bot.stop()]);
  const starting = bot.start();
  const stopping = bot.stop();
  const { port } = await starting;
  await stopping;
  await expect(fetch(`http://localhost:${port}/ready`)).rejects.toThrow();
  await bot.start();
  await ask('hello').shows(/Hello\./);
});

test('a changed manifest gives a tool of the program another rule without a restart', async () => {
  const { create, ask, manifest, workspace } = await program();
  const { tools, ran } = twoTools();
  const payment = { tool: 'transfer_money', input: { to: 'ABC', amount: 100 } };
  const bot = create({ tools, model: scripted([payment, 'Paid.']).model });
  await bot.start();
  const written = `${MANIFEST}  transfer_money: { code: true, approval: { require: never } }\n  gone: { code: true }\n`;
  writeFileSync(manifest, written);
  await workspace.until(
    () =>
      workspace
        .messagesIn(workspace.directMessages(CAST.admin))
        .find(({ text }) => text.includes('the program gives the bot no tool named "gone"')),
    { what: 'the admin is told' },
  );
  await ask('pay ABC').shows(/Paid\./);
  expect(ran).toEqual(['sent 100 to ABC']);
});

test('an approval holds for one version of the program: another does not run what it approved', async () => {
  for (const [version, sent] of [
    ['1', ['sent 100 to ABC']],
    ['2', []],
  ] as const) {
    const { create, ask } = await program();
    const payment = { tool: 'transfer_money', input: { to: 'ABC', amount: 100 } };
    const [before, after] = [twoTools(), twoTools()];
    const first = create({ tools: before.tools, version: '1', model: scripted([payment]).model });
    await first.start();
    const { shows, approve } = ask('pay ABC');
    await shows(/Transfer money[\s\S]*approve/i);
    await first.stop();
    const second = create({ tools: after.tools, version, model: scripted(['Over.', 'Over.']).model });
    await second.start();
    await approve(/approve/);
    await shows(sent.length > 0 ? /Over\./ : /Replaced: Transfer money/);
    expect([before.ran, after.ran]).toEqual([[], sent]);
  }
});

test('what is wrong is one error from start, which says where it is and what to do', async () => {
  const { create, environment } = await program();
  const { tools } = twoTools();
  const { model } = scripted([]);
  const problemsOf = async (options: BotOptions, text?: string): Promise<string> => {
    const manifest = join(newFolder(), 'manifest.yml');
    if (text !== undefined) writeFileSync(manifest, text);
    const error: unknown = await create({ ...(text !== undefined && { manifest }), model, ...options })
      .start()
      .then(
        () => 'it started',
        (reason: unknown) => reason,
      );
    expect(error).toBeInstanceOf(StartError);
    return error instanceof StartError ? error.message.replaceAll(manifest, 'manifest.yml') : '';
  };
  const [first, second] = tools;
  expect(await problemsOf({ tools: [first, first, second].flatMap((tool) => tool ?? []) })).toBe(
    'countersign cannot start:\n  Two tools are named "book_room"; names must differ',
  );
  expect(await problemsOf({ tools: [] })).toMatch(
    /tools\.book_room\.code: the program gives the bot no tool named "book_room"; add it to "tools" of createBot/,
  );
  expect(
    await problemsOf(
      { tools },
      MANIFEST.replace(
        'code: true',
        'description: Books., input: { type: object, properties: { room: { type: string } } }, http: { method: POST, url: https://example.com }',
      ),
    ),
  ).toMatch(
    /manifest\.yml:\d+:\d+: tools\.book_room: the program gives the bot a tool named "book_room" as well/,
  );
  expect(await problemsOf({ tools }, MANIFEST.replace('code: true', 'cod: true'))).toMatch(
    /unknown key "cod".*"code"/,
  );
  expect(await problemsOf({ tools }, MANIFEST.replace('default:', 'other:'))).toContain(
    'the tool "transfer_money" of the program has no rule, so its calls need the policy "default"',
  );
  expect(await problemsOf({ tools, manifest: '/nowhere/manifest.yml' })).toContain('there is no /nowhere');
  expect(
    await problemsOf({ tools, environment: { ...environment, SLACK_BOT_TOKEN: '' }, model: undefined }),
  ).toMatch(/SLACK_BOT_TOKEN is not set[\s\S]*OPENAI_API_KEY is not set/);
  const taken = createServer().listen(0);
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  expect(await problemsOf({ tools, environment: { ...environment, PORT: String(port) } })).toBe(
    `countersign cannot start:\n  port ${port} is in use; stop what uses it, or set PORT to another`,
  );
});

test('"manifest check" accepts an entry for a tool of a program', async () => {
  const { manifest } = await program();
  expect(await run(['manifest', 'check', manifest])).toMatchObject({ code: 0, error: '' });
});
