import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { ReplyFunction } from '../playground/model/model-reply.ts';
import { startLocalModel } from '../playground/model/start-local-model.ts';
import { CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import type { Message } from '../playground/slack/state/types.ts';
import { type Playground, startPlayground } from '../playground/start-playground.ts';
import type { CardsOptions } from './card-pictures.ts';
import { type Tile, writeSheet } from './contact-sheet.ts';
import { LOOKS, openWindow } from './open-window.ts';

const { alice, requester: remi } = CAST;
const shop = fileURLToPath(new URL('../examples/shop', import.meta.url));
const tickets = fileURLToPath(new URL('../test/stories/fixtures/ticket-tools.ts', import.meta.url));
const HEIGHT = 1_600;
const TIMEOUT_MS = 60_000;

/** The shop, with a desk of tickets. */
function manifestText(): string {
  const text = readFileSync(join(shop, 'manifest.yml'), 'utf8')
    .replaceAll('./tools/', `${shop}/tools/`)
    .replace('./files', `${shop}/files`)
    .replace('../../node_modules', fileURLToPath(new URL('../node_modules', import.meta.url)))
    .replace(
      /^policies:$/m,
      `policies:\n  support: { approvers: [${alice}], notify: { direct_messages: false } }\n  large: { approvers: [${alice}], risk: high, notify: { direct_messages: false } }`,
    );
  return `${text}
  desk:
    module: ${tickets}
    reversible: yes
    approval:
      - { match: pay_customer, when: "input.amount > 1000.0", policy: large, because: "a payment over 1,000" }
      - { match: "*", policy: support, because: "every change of a ticket" }
`;
}

const close = (ticket: string, customer: string) => ({ tool: 'close_ticket', input: { ticket, customer } });
const PLANS: Readonly<Record<string, { goal: string; steps: readonly object[] }>> = {
  twelve: {
    goal: 'Close the tickets that were answered and heard nothing for a week',
    steps: Array.from({ length: 12 }, (_, index) =>
      close(`T-${1_040 + index}`, ['Acme', 'Bolt & Sons', 'Casa Verde'][index % 3] ?? ''),
    ),
  },
  mixed: {
    goal: 'Close the case of Acme and pay what we owe them',
    steps: [
      close('T-2001', 'Acme'),
      { tool: 'pay_customer', input: { customer: 'Acme', amount: 80 } },
      { tool: 'pay_customer', input: { customer: 'Acme', amount: 4_500 } },
      close('T-2002', 'Acme'),
    ],
  },
  stuck: {
    goal: 'Close the last tickets of Bolt & Sons',
    steps: [
      close('T-3001', 'Bolt & Sons'),
      close('stuck-3002', 'Bolt & Sons'),
      close('T-3003', 'Bolt & Sons'),
      close('T-3004', 'Bolt & Sons'),
    ],
  },
};

const answer: ReplyFunction = ({ messages }) => {
  const [, name = ''] = /plan (\w+)/.exec(JSON.stringify(messages)) ?? [];
  const plan = PLANS[name];
  if (plan === undefined || messages.some(({ role }) => role === 'tool')) return { text: 'That is done.' };
  return { calls: [{ name: 'propose_plan', arguments: { goal: plan.goal, steps: [...plan.steps] } }] };
};

type Shoot = (name: string, path: string, selector: string) => Promise<void>;

async function takeEach({ slack }: Playground, shoot: Shoot): Promise<void> {
  const { workspace } = slack;
  const ask = (name: string): string =>
    workspace.as(remi).send(CHANNELS.general, `<@${workspace.state.app.botUserId}> plan ${name}`).ts;
  const message = (words: RegExp, threadTs: string) =>
    workspace.until(
      () =>
        workspace
          .messagesIn(CHANNELS.general, threadTs)
          .findLast(({ text, blocks }) => words.test(`${text}\n${JSON.stringify(blocks ?? [])}`)),
      { what: String(words), timeoutMs: TIMEOUT_MS },
    );
  const click = ({ channel, ts }: Message, action: string) =>
    workspace.as(alice).click({ channel, ts }, action);
  const shootCard = (name: string, { ts }: Message, threadTs: string) =>
    shoot(name, `${CHANNELS.general}/${threadTs}`, `.thread [data-ts="${ts}"]`);

  const twelve = ask('twelve');
  const pending = await message(/^Approval needed: Close 12 tickets/, twelve);
  await shootCard('Plan, pending', pending, twelve);
  await click(pending, 'choose-steps');
  const modal = await workspace.until(() => workspace.modalOf(alice), { what: 'a modal' });
  await shoot('Plan, choosing', `${CHANNELS.general}/${twelve}`, 'dialog');
  await workspace.as(alice).close(modal.id);
  await click(pending, 'approve');
  await shootCard('Plan, done', await message(/^Ran 12 steps/, twelve), twelve);

  const mixed = ask('mixed');
  const waiting = await message(/^Approval needed: Close 2 tickets and pay/, mixed);
  await shootCard('Plan with a step asked alone, pending', waiting, mixed);
  await click(waiting, 'approve');
  await shootCard('Plan, half done', await message(/✅ 2\. /, mixed), mixed);

  const stuck = ask('stuck');
  await click(await message(/^Approval needed: Close 4 tickets/, stuck), 'approve');
  await shootCard('Plan, held', await message(/Stopped after 1/, stuck), stuck);
  await shootCard('What is left', await message(/^Approval needed: Close 2 tickets/, stuck), stuck);
}

/** Takes the card of a plan in each state and each look, and writes one sheet for each width. */
export async function takePlans(browser: Browser, { folder, images, log }: CardsOptions): Promise<void> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'countersign-plans-'));
  const manifest = join(dataFolder, 'manifest.yml');
  process.env.TICKETS_FILE = join(dataFolder, 'tickets');
  const model = await startLocalModel({ script: answer, models: ['scripted'] });
  const { REDIS_URL: _shared, ...env } = process.env;
  writeFileSync(manifest, manifestText());
  const tiles = new Map<string, Tile[]>(Object.keys(LOOKS).map((look) => [look, []]));
  const playground = await startPlayground({
    port: 0,
    dataFolder: join(dataFolder, 'data'),
    manifest,
    reset: false,
    env: { ...env, OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'scripted' },
    log,
  });
  const shoot: Shoot = async (name, path, selector) => {
    log(`Taking ${name}.`);
    for (const [look, settings] of Object.entries(LOOKS)) {
      // High enough that nothing covers a part of the card.
      const viewport = { width: settings.viewport?.width ?? 0, height: HEIGHT };
      const { page } = await openWindow(browser, playground.url, `/alice/${path}`, { ...settings, viewport });
      const file = join(folder, `${name.toLowerCase().replaceAll(/\W+/g, '-')}-${look}.png`);
      const picture = await page.locator(selector).first().screenshot({ path: file });
      tiles.get(look)?.push({ caption: `${name}, ${settings.colorScheme}`, picture });
      await page.context().close();
    }
  };
  try {
    await takeEach(playground, shoot);
  } finally {
    await playground.stop();
    await model.stop().catch(() => {});
    rmSync(dataFolder, { recursive: true, force: true });
  }
  for (const [width, file] of [
    ['wide', 'plans-desktop.png'],
    ['narrow', 'plans-phone.png'],
  ]) {
    const [light = [], dark = []] = [tiles.get(`${width}-light`), tiles.get(`${width}-dark`)];
    const paired = light.flatMap((tile, index) => [tile, ...dark.slice(index, index + 1)]);
    await writeSheet(paired, { columns: 4, width: 400, file: join(images, file ?? '') });
  }
}
