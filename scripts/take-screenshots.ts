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
  readonly show?: (person: PersonPage, isNarrow: boolean) => Promise<unknown>;
}

type Look = Pick<BrowserContextOptions, 'viewport' | 'hasTouch' | 'isMobile' | 'colorScheme'>;

const WIDE: Look = { viewport: { width: 1440, height: 900 } };
const NARROW: Look = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const GENERAL = `/${CHANNELS.general}`;
const TIMEOUT_MS = 60_000;

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
    await takeInEachLook({ name: 'beginning', path: `/remi${GENERAL}` }, visit);
    for (const shot of await createStates(visit)) await takeInEachLook(shot, visit);
  } finally {
    await browser.close();
    await playground.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  }
  log(`Screenshots are in ${folder}, those of the README in docs/images.`);
}

type Visit = (path: string, look: Look) => Promise<PersonPage>;

async function takeInEachLook(shot: Shot, visit: Visit): Promise<void> {
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
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(path);
  return new PersonPage(page);
}

/** Creates all states for the screenshots and returns where they are. */
async function createStates(visit: Visit): Promise<Shot[]> {
  const remi = await visit(`/remi${GENERAL}`, WIDE);
  const alice = await visit(`/alice${GENERAL}`, WIDE);
  const ask = async (words: string, shown: string): Promise<string> => {
    await remi.ask(words);
    await remi.openThread(words);
    await remi.threadMessage(shown).waitFor();
    return new URL(remi.page.url()).pathname.replace('/remi', '');
  };
  const expiring = await ask('Please publish on the status page: "Payments are slow, we are on it."', '☐');
  const question = await ask('Please look up an order for me.', 'Which order was it?');
  const deployment = await ask('Please deploy checkout 2.4.1 to staging.', '☐');
  await alice.page.goto(`/alice${deployment}`);
  await alice.click(alice.pendingCard('Deploy'), 'Approve');
  await alice.threadMessage('Progress').waitFor();
  await alice.tour.getByRole('button', { name: 'Kill the bot during an action' }).click();
  await alice.click(alice.tour, 'Kill the bot now');
  await alice.threadMessage('⚠ Deploy').waitFor();

  const deletion = await ask('Please delete the customer Tomo Arai.', '☐');
  await alice.page.goto(`/alice${deletion}`);
  await alice.approveTyped(alice.pendingCard('Delete customer'), 'Tomo Arai');
  await alice.threadMessage('1 of 2 approvals').waitFor();
  await ask('Please refund 20 dollars of order A-1001, it came late.', 'Refunded $20.00');
  const refund = await ask('Please refund 120 dollars of order A-1001, the top is scratched.', '☐');
  await remi.page.goto(`/remi${expiring}`);
  await remi.threadMessage('◷ Publish').waitFor();
  await Promise.all([remi, alice].map(({ page }) => page.context().close()));
  return shotsOf({ expiring, question, deployment, deletion, refund });
}

function shotsOf(
  paths: Readonly<Record<'expiring' | 'question' | 'deployment' | 'deletion' | 'refund', string>>,
): Shot[] {
  const withCard = (words: string) => (person: PersonPage) => person.threadMessage(words).waitFor();
  const withRecord = (words: string) => async (person: PersonPage, isNarrow: boolean) => {
    await person.threadMessage(words).waitFor();
    if (isNarrow) return;
    await person.page.getByRole('tab', { name: 'Record' }).click();
    await person.record.getByText(/Audit chain/).waitFor();
  };
  return [
    { name: 'question', path: `/remi${paths.question}`, show: withCard('Which order was it?') },
    { name: 'approval', path: `/alice${paths.refund}`, show: withRecord('☐') },
    { name: 'approvals', path: `/bruno${paths.deletion}`, show: withRecord('1 of 2 approvals') },
    { name: 'expired', path: `/remi${paths.expiring}`, show: withCard('◷ Publish') },
    {
      name: 'unknown',
      path: `/alice${paths.deployment}`,
      show: withRecord('⚠ Deploy'),
    },
    {
      name: 'record',
      path: `/alice${paths.refund}`,
      show: async (person, isNarrow) => {
        const name = 'Record';
        await person.page
          .getByRole(isNarrow ? 'button' : 'tab', { name })
          .last()
          .click();
        await person.record.getByText(/Audit chain/).scrollIntoViewIfNeeded();
      },
    },
    {
      name: 'reject',
      path: `/alice${paths.refund}`,
      show: async (person) => {
        await person.click(person.pendingCard('Refund'), 'Reject');
        await person.click(person.dialog, 'Reject');
        await person.dialog.getByText('Please').waitFor();
      },
    },
    {
      name: 'edit',
      path: `/alice${paths.refund}`,
      show: async (person) => {
        await person.choose(person.pendingCard('Refund'), 'Edit');
        await person.dialog.getByLabel(/amount/i).waitFor();
      },
    },
    {
      name: 'people',
      path: `/alice${GENERAL}`,
      show: async (person, isNarrow) => {
        if (isNarrow) await person.click(person.page.getByRole('main'), 'Back to the channels and people');
        await person.page.getByRole('button', { name: /^You are/ }).click();
      },
    },
    {
      name: 'home',
      path: '/alice/home',
      show: (person) => person.page.getByRole('heading', { name: 'Waiting for me' }).waitFor(),
    },
    { name: 'channel', path: `/alice${GENERAL}` },
  ];
}

async function take({ path, show }: Shot, look: Look, file: string, visit: Visit): Promise<void> {
  const person = await visit(path, look);
  await person.page.getByRole('main').waitFor();
  await show?.(person, look.isMobile === true);
  await person.page.screenshot({ path: file });
  // A modal belongs to the person, not to the window: the next window would show it too.
  if (await person.dialog.isVisible()) {
    await person.page.keyboard.press('Escape');
    await person.dialog.waitFor({ state: 'detached' });
  }
  await person.page.context().close();
}

await takeScreenshots();
