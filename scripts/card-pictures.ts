import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { ReplyFunction } from '../playground/model/model-reply.ts';
import { startLocalModel } from '../playground/model/start-local-model.ts';
import { answerByScript } from '../playground/scripted-model/scripted-model.ts';
import { APPROVERS_GROUP, CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import type { Message } from '../playground/slack/state/types.ts';
import { type Playground, startPlayground } from '../playground/start-playground.ts';
import { LONG_SQL } from '../test/stories/fixtures/run-sql.ts';
import { type Tile, writeSheet } from './contact-sheet.ts';
import { LOOKS, openWindow } from './open-window.ts';

const { alice, bruno, requester: remi } = CAST;
const shop = fileURLToPath(new URL('../examples/shop', import.meta.url));
const sqlTool = fileURLToPath(new URL('../test/stories/fixtures/run-sql.ts', import.meta.url));
const TIMEOUT_MS = 120_000;
const HEIGHT = 1_400;
const WAIVE = 'Please waive the late fees.';

/** The shop, with a tool that takes long statements, and with rules that change only after approval. */
function manifestText(quorum: number): string {
  const text = readFileSync(join(shop, 'manifest.yml'), 'utf8')
    .replaceAll('./tools/', `${shop}/tools/`)
    .replace('./files', `${shop}/files`)
    .replace('../../node_modules', fileURLToPath(new URL('../node_modules', import.meta.url)))
    .replace(
      'max_steps: 20',
      `max_steps: 20\n  policy_changes: { approvers: [${APPROVERS_GROUP}], channel: ${CHANNELS.general} }`,
    )
    .replace('quorum: 2', `quorum: ${quorum}`);
  return `${text}
  run_sql:
    module: ${sqlTool}
    title: "Run SQL on {{input.database}}"
    done: "Ran SQL on {{input.database}}"
    target: "{{input.database}}"
    fields: { Statement: "{{input.query | code}}" }
    approval: { policy: finance, because: "every change of billing data" }
`;
}

const answer: ReplyFunction = (request, index) => {
  if (!JSON.stringify(request.messages).includes(WAIVE)) return answerByScript(request, index);
  if (request.messages.some(({ role }) => role === 'tool')) return { text: 'The late fees are waived.' };
  const call = { name: 'run_sql', arguments: { database: 'billing', query: LONG_SQL } };
  return { text: 'I would waive the late fees with one statement.', calls: [call] };
};

/** The actions of people in the workspace, by its own means: clicks in a window would need other words in each version. */
function actorsIn({ slack, bot }: Playground) {
  const { workspace } = slack;
  const ask = (text: string): string =>
    workspace.as(remi).send(CHANNELS.general, `<@${workspace.state.app.botUserId}> ${text}`).ts;
  const message = (words: RegExp, threadTs?: string) =>
    workspace.until(
      () => workspace.messagesIn(CHANNELS.general, threadTs).findLast(({ text }) => words.test(text)),
      { what: String(words), timeoutMs: TIMEOUT_MS },
    );
  const click = (who: string, { channel, ts }: Message, action: string) =>
    workspace.as(who).click({ channel, ts }, action);
  const modal = (who: string, hash?: string) =>
    workspace.until(
      () => {
        const shown = workspace.modalOf(who);
        return shown?.hash === hash ? undefined : shown;
      },
      { what: 'a modal' },
    );
  const submit = async (who: string, values: Readonly<Record<string, string>>) =>
    workspace.as(who).submit((await modal(who)).id, values);
  /** Reads every page of Details, and approves on the last. */
  const approveInDetails = async (who: string, card: Message) => {
    await click(who, card, 'details');
    let view = await modal(who);
    while (!JSON.stringify(view.blocks).includes('"action_id":"approve"')) {
      await workspace.as(who).click({ viewId: view.id }, 'next-page');
      view = await modal(who, view.hash);
    }
    await workspace.as(who).click({ viewId: view.id }, 'approve');
    await workspace.as(who).close(view.id);
  };
  return { ask, message, click, submit, approveInDetails, kill: () => bot.kill() };
}

/** A card in a state: where it is, and the element that shows it. */
type Shoot = (name: string, path: string, selector: string) => Promise<void>;

async function takeEach(
  playground: Playground,
  shoot: Shoot,
  changeRules: () => void,
  log: (line: string) => void,
): Promise<void> {
  const { ask, message, click, submit, approveInDetails, kill } = actorsIn(playground);
  const shootCard = (name: string, { ts }: Message, threadTs: string) =>
    shoot(name, `${CHANNELS.general}/${threadTs}`, `.thread [data-ts="${ts}"]`);
  const one = async (
    name: string,
    text: string,
    waits: RegExp,
    settle: (card: Message) => Promise<unknown>,
    ended: RegExp,
    before: (card: Message) => Promise<Message> = async (card) => card,
  ) => {
    log(`Taking ${name}.`);
    const threadTs = ask(text);
    const card = await before(await message(waits, threadTs));
    await shootCard(`${name}, pending`, card, threadTs);
    await settle(card);
    await shootCard(`${name}, settled`, await message(ended, threadTs), threadTs);
  };

  await one(
    'Refund',
    'Please refund 120 dollars of order A-1001, the top is scratched.',
    /^Approval needed: Refund/,
    (card) => click(alice, card, 'approve'),
    /^Done: Refund/,
  );
  const approveDeletion = async (card: Message) => {
    for (const who of [alice, bruno]) {
      await click(who, card, 'approve-typed');
      await submit(who, { target: 'Tomo Arai' });
    }
  };
  await one(
    'Deletion',
    'Please delete the customer Tomo Arai.',
    /^Approval needed: Delete/,
    approveDeletion,
    /^Done: Delete/,
  );
  await one(
    'Long SQL',
    WAIVE,
    /^Approval needed: Run/,
    (card) => approveInDetails(alice, card),
    /^Done: Ran/,
  );
  const runAndKill = async (card: Message) => {
    await click(alice, card, 'approve');
    await message(/^Running: Deploy/, card.thread_ts);
    await kill();
    return message(/^Outcome unknown: Deploy/, card.thread_ts);
  };
  const confirm = async (card: Message) => {
    await click(alice, card, 'ran');
    await submit(alice, { reason: 'The new version answers.' });
  };
  await one(
    'Unknown outcome',
    'Please deploy checkout 2.4.1 to staging.',
    /^Approval needed: Deploy/,
    confirm,
    /^(?:Ran|Outcome confirmed): Deploy/,
    runAndKill,
  );

  log('Taking a policy change.');
  changeRules();
  const change = await message(/^Approval needed: Change the rules/);
  const selector = `[data-ts="${change.ts}"] .blocks`;
  await shoot('Policy change, pending', CHANNELS.general, selector);
  await click(alice, change, 'approve');
  await message(/^Done: Change/);
  await shoot('Policy change, settled', CHANNELS.general, selector);

  log('Taking Home.');
  for (const [text, words] of [
    ['Please refund 130 dollars of order A-1003, the lid is broken.', /^Approval needed: Refund/],
    ['Please delete the customer Ines Marr.', /^Approval needed: Delete/],
  ] as const)
    await message(words, ask(text));
  await shoot('Home row', 'home', '.home .blocks:has-text("Waiting for")');
}

export interface CardsOptions {
  readonly folder: string;
  readonly images: string;
  readonly log: (line: string) => void;
}

/** Takes each card of the five-second table alone, pending and settled, in each look, and writes one sheet for each width. */
export async function takeCards(browser: Browser, { folder, images, log }: CardsOptions): Promise<void> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'countersign-cards-'));
  const manifest = join(dataFolder, 'manifest.yml');
  const model = await startLocalModel({ script: answer, models: ['scripted'] });
  const { REDIS_URL: _shared, ...env } = process.env;
  writeFileSync(manifest, manifestText(2));
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
    await takeEach(playground, shoot, () => writeFileSync(manifest, manifestText(1)), log);
  } finally {
    await playground.stop();
    await model.stop().catch(() => {});
    rmSync(dataFolder, { recursive: true, force: true });
  }
  for (const [width, file] of [
    ['wide', 'cards-desktop.png'],
    ['narrow', 'cards-phone.png'],
  ]) {
    const [light = [], dark = []] = [tiles.get(`${width}-light`), tiles.get(`${width}-dark`)];
    const paired = light.flatMap((tile, index) => [tile, ...dark.slice(index, index + 1)]);
    await writeSheet(paired, { columns: 4, width: 400, file: join(images, file ?? '') });
  }
}
