import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { bringUpChromium } from '../playground/chromium/bring-up-chromium.ts';
import { launchChromium } from '../playground/chromium/launch-chromium.ts';
import { PersonPage } from '../playground/chromium/person-page.ts';
import { CHANNELS } from '../playground/slack/default-cast.ts';
import { startPlayground } from '../playground/start-playground.ts';

/** A state of the page: the path, and the clicks before the screenshot. */
interface Shot {
  readonly name: string;
  readonly path: string;
  readonly show?: (visitor: PersonPage, isNarrow: boolean) => Promise<unknown>;
}

type Look = Pick<BrowserContextOptions, 'viewport' | 'hasTouch' | 'isMobile' | 'colorScheme'>;

const WIDE: Look = { viewport: { width: 1440, height: 900 } };
const NARROW: Look = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const GENERAL = `/${CHANNELS.general}`;
const PATIENCE_MILLISECONDS = 60_000;

const LOOKS: Readonly<Record<string, Look>> = {
  'wide-light': { ...WIDE, colorScheme: 'light' },
  'wide-dark': { ...WIDE, colorScheme: 'dark' },
  'narrow-light': { ...NARROW, colorScheme: 'light' },
  'narrow-dark': { ...NARROW, colorScheme: 'dark' },
};

/** Screenshots of the README; the wide one is narrower to keep the file small. */
const README_LOOKS: Readonly<Record<string, Look>> = {
  'pending-approval.png': { viewport: { width: 1200, height: 750 }, colorScheme: 'light' },
  'phone-dark.png': { ...NARROW, colorScheme: 'dark' },
};

const images = fileURLToPath(new URL('../docs/images', import.meta.url));
const manifest = fileURLToPath(new URL('../examples/shop/manifest.yml', import.meta.url));
const [folder = '.playground/screenshots'] = process.argv.slice(2);

/** Starts a playground and takes screenshots of its main states, light and dark, wide and narrow. */
async function takeScreenshots(): Promise<void> {
  for (const path of [folder, images]) mkdirSync(path, { recursive: true });
  const dataFolder = mkdtempSync(join(tmpdir(), 'countersign-screenshots-'));
  const log = (line: string) => process.stdout.write(`${line}\n`);
  const { OPENAI_API_KEY: _real, REDIS_URL: _shared, ...env } = process.env;
  const browser = await launchChromium(await bringUpChromium({ log }));
  const playground = await startPlayground({ port: 0, dataFolder, manifest, reset: false, env, log });
  try {
    const visit: Visit = (path, look) => open(browser, playground.url, path, look);
    await takeEach({ name: 'beginning', path: `/remi${GENERAL}` }, visit);
    for (const shot of await playStates(visit)) await takeEach(shot, visit);
  } finally {
    await browser.close();
    await playground.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  }
  log(`The pictures are in ${folder}, those of the README in docs/images.`);
}

type Visit = (path: string, look: Look) => Promise<PersonPage>;

async function takeEach(shot: Shot, visit: Visit): Promise<void> {
  for (const [look, settings] of Object.entries(LOOKS))
    await take(shot, settings, join(folder, `${shot.name}-${look}.png`), visit);
  if (shot.name !== 'approval') return;
  for (const [file, look] of Object.entries(README_LOOKS)) await take(shot, look, join(images, file), visit);
}

async function open(browser: Browser, baseURL: string, path: string, look: Look): Promise<PersonPage> {
  const context = await browser.newContext({
    baseURL,
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    ...look,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MILLISECONDS);
  await page.goto(path);
  return new PersonPage(page);
}

/** Creates all states for the screenshots and returns where they are. */
async function playStates(visit: Visit): Promise<Shot[]> {
  const remi = await visit(`/remi${GENERAL}`, WIDE);
  const alice = await visit(`/alice${GENERAL}`, WIDE);
  const ask = async (words: string, shown: string): Promise<string> => {
    await remi.ask(words);
    await remi.openThread(words);
    await remi.threadMessage(shown).waitFor();
    return new URL(remi.page.url()).pathname.replace('/remi', '');
  };
  const expiring = await ask(
    'Please publish on the status page: "Payments are slow, we are on it."',
    'Approval needed',
  );
  const question = await ask('Please look up an order for me.', 'Which order was it?');
  const deployment = await ask('Please deploy checkout 2.4.1 to staging.', 'Approval needed');
  await alice.page.goto(`/alice${deployment}`);
  await alice.click(alice.pendingCard('deploy_service'), 'Approve');
  await alice.threadMessage('Progress').waitFor();
  await alice.tour.getByRole('button', { name: 'Kill the bot during an action' }).click();
  await alice.click(alice.tour, 'Kill the bot now');
  await alice.threadMessage('deploy_service: unknown').waitFor();

  const deletion = await ask('Please delete the customer Tomo Arai.', 'Approval needed');
  await alice.page.goto(`/alice${deletion}`);
  await alice.click(alice.pendingCard('delete_customer'), 'Approve');
  await alice.click(alice.dialog, 'Approve');
  await alice.threadMessage('1 of 2 signed').waitFor();
  await ask('Please refund 20 dollars of order A-1001, it came late.', 'Refunded $20.00');
  const refund = await ask(
    'Please refund 120 dollars of order A-1001, the top is scratched.',
    'Approval needed',
  );
  await remi.page.goto(`/remi${expiring}`);
  await remi.threadMessage('publish_status: expired').waitFor();
  await Promise.all([remi, alice].map(({ page }) => page.context().close()));
  return shotsOf({ expiring, question, deployment, deletion, refund });
}

function shotsOf(
  paths: Readonly<Record<'expiring' | 'question' | 'deployment' | 'deletion' | 'refund', string>>,
): Shot[] {
  const withCard = (words: string) => (visitor: PersonPage) => visitor.threadMessage(words).waitFor();
  const withRecord = (words: string) => async (visitor: PersonPage, isNarrow: boolean) => {
    await visitor.threadMessage(words).waitFor();
    if (isNarrow) return;
    await visitor.page.getByRole('tab', { name: 'Record' }).click();
    await visitor.record.getByText(/Audit chain/).waitFor();
  };
  return [
    { name: 'question', path: `/remi${paths.question}`, show: withCard('Which order was it?') },
    { name: 'approval', path: `/alice${paths.refund}`, show: withRecord('Approval needed') },
    { name: 'signatures', path: `/bruno${paths.deletion}`, show: withRecord('1 of 2 signed') },
    { name: 'expired', path: `/remi${paths.expiring}`, show: withCard('publish_status: expired') },
    { name: 'unknown', path: `/alice${paths.deployment}`, show: withRecord('deploy_service: unknown') },
    {
      name: 'record',
      path: `/alice${paths.refund}`,
      show: async (visitor, isNarrow) => {
        const name = 'Record';
        await visitor.page
          .getByRole(isNarrow ? 'button' : 'tab', { name })
          .last()
          .click();
        await visitor.record.getByText(/Audit chain/).scrollIntoViewIfNeeded();
      },
    },
    {
      name: 'reject',
      path: `/alice${paths.refund}`,
      show: async (visitor) => {
        await visitor.click(visitor.pendingCard('refund_order'), 'Reject');
        await visitor.click(visitor.dialog, 'Reject');
        await visitor.dialog.getByText('Please').waitFor();
      },
    },
    {
      name: 'edit',
      path: `/alice${paths.refund}`,
      show: async (visitor) => {
        await visitor.click(visitor.pendingCard('refund_order'), 'Edit');
        await visitor.dialog.getByLabel(/amount/i).waitFor();
      },
    },
    {
      name: 'people',
      path: `/alice${GENERAL}`,
      show: async (visitor, isNarrow) => {
        if (isNarrow) await visitor.click(visitor.page.getByRole('main'), 'Back to the channels and people');
        await visitor.page.getByRole('button', { name: /^You are/ }).click();
      },
    },
    {
      name: 'home',
      path: '/alice/home',
      show: (visitor) => visitor.page.getByRole('heading', { name: 'Waiting for me' }).waitFor(),
    },
    { name: 'channel', path: `/alice${GENERAL}` },
  ];
}

async function take({ path, show }: Shot, look: Look, file: string, visit: Visit): Promise<void> {
  const visitor = await visit(path, look);
  await visitor.page.getByRole('main').waitFor();
  await show?.(visitor, look.isMobile === true);
  await visitor.page.screenshot({ path: file });
  // A modal belongs to the person, not to the window: the next window would show it too.
  if (await visitor.dialog.isVisible()) {
    await visitor.page.keyboard.press('Escape');
    await visitor.dialog.waitFor({ state: 'detached' });
  }
  await visitor.page.context().close();
}

await takeScreenshots();
