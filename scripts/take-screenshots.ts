import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { bringUpChromium } from '../playground/chromium/bring-up-chromium.ts';
import { launchChromium } from '../playground/chromium/launch-chromium.ts';
import type { PersonPage } from '../playground/chromium/person-page.ts';
import { CHANNELS } from '../playground/slack/default-cast.ts';
import { type Playground, startPlayground } from '../playground/start-playground.ts';
import { takeCards } from './card-pictures.ts';
import { compress } from './contact-sheet.ts';
import { filmFirstMinute } from './film-first-minute.ts';
import { LOOKS, type Look, NARROW, openWindow, WIDE } from './open-window.ts';
import { takePlans } from './plan-pictures.ts';
import { createStates, FIRST_SHOTS, type Shot } from './screenshot-states.ts';

type Visit = (path: string, look: Look) => Promise<PersonPage>;

/** The screenshots that the docs use; a wide one is narrower to keep the file small. */
const DOCS: readonly { readonly state: string; readonly file: string; readonly look: Look }[] = [
  {
    state: 'opening',
    file: 'pending-approval.png',
    look: { viewport: { width: 1200, height: 750 }, colorScheme: 'light' },
  },
  { state: 'opening', file: 'phone-dark.png', look: { ...NARROW, colorScheme: 'dark' } },
];

const images = fileURLToPath(new URL('../docs/images', import.meta.url));
const manifest = fileURLToPath(new URL('../examples/shop/manifest.yml', import.meta.url));
const log = (line: string) => process.stdout.write(`${line}\n`);
const folder = '.playground/screenshots';

/** The parts of `npm run screenshots`; with names, only those are taken. */
const PARTS: Readonly<Record<string, (browser: Browser) => Promise<void>>> = {
  states: (browser) => withPlayground((playground) => takeStates(browser, playground)),
  film: (browser) =>
    withPlayground(({ url }) =>
      filmFirstMinute(browser, url, { folder, sheet: join(images, 'first-minute.png') }),
    ),
  cards: (browser) => takeCards(browser, { folder, images, log }),
  terminal: (browser) => withPlayground(({ url }) => takeTerminal(browser, url)),
  plans: (browser) => takePlans(browser, { folder, images, log }),
};

async function takeScreenshots(asked: readonly string[]): Promise<void> {
  const unknown = asked.filter((name) => PARTS[name] === undefined);
  if (unknown.length > 0) throw new Error(`The parts are ${Object.keys(PARTS).join(', ')}.`);
  for (const path of [folder, images]) mkdirSync(path, { recursive: true });
  const browser = await launchChromium(await bringUpChromium({ log }));
  try {
    for (const [name, take] of Object.entries(PARTS))
      if (asked.length === 0 || asked.includes(name)) await take(browser);
  } finally {
    await browser.close();
  }
  log(`Screenshots are in ${folder}, those of the docs in docs/images.`);
}

/** Starts a new playground with the shop and the scripted model. */
async function withPlayground(use: (playground: Playground) => Promise<void>): Promise<void> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'countersign-screenshots-'));
  const { OPENAI_API_KEY: _real, REDIS_URL: _shared, ...env } = process.env;
  const playground = await startPlayground({
    port: 0,
    dataFolder,
    manifest,
    reset: false,
    env,
    log,
    withOpening: true,
  });
  try {
    await use(playground);
  } finally {
    await playground.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

/** Takes the main states of the page, light and dark, wide and narrow. */
async function takeStates(browser: Browser, { url }: Playground): Promise<void> {
  const visit: Visit = (path, look) => openWindow(browser, url, path, look);
  for (const shot of FIRST_SHOTS) await takeInEachLook(shot, visit);
  for (const shot of await createStates((path) => visit(path, WIDE))) await takeInEachLook(shot, visit);
}

/** Takes the terminal while its job waits for people, beside the card; for the phone the terminal alone. */
async function takeTerminal(browser: Browser, url: string): Promise<void> {
  const path = `/alice/${CHANNELS.general}`;
  const wide = await openWindow(browser, url, path, {
    viewport: { width: 1200, height: 1000 },
    colorScheme: 'light',
  });
  await wide.page.getByRole('tab', { name: 'Terminal' }).click();
  await wide.click(wide.terminal, 'Run the job');
  await wide.terminal.getByText(/Waiting for approval in Slack/).waitFor();
  await wide.channelCard('Release checkout 2.4.1').getByRole('button', { name: 'Approve' }).waitFor();
  await compress(await wide.page.screenshot(), join(images, 'terminal.png'));
  const phone = await openWindow(browser, url, path, { ...NARROW, colorScheme: 'dark' });
  await phone.page.getByRole('button', { name: 'Terminal', exact: true }).click();
  await phone.terminal.getByText(/Waiting for approval in Slack/).waitFor();
  await phone.page.screenshot({ path: join(folder, 'terminal-narrow-dark.png') });
  await wide.click(wide.channelCard('Release checkout 2.4.1'), 'Approve');
  await wide.terminal.getByText('The job succeeded.').waitFor();
  for (const [name, { page }] of Object.entries({ wide, phone })) {
    await page.screenshot({ path: join(folder, `terminal-done-${name}.png`) });
    await page.context().close();
  }
}

async function takeInEachLook(shot: Shot, visit: Visit): Promise<void> {
  for (const [look, settings] of Object.entries(LOOKS))
    await take(shot, settings, visit, join(folder, `${shot.name}-${look}.png`));
  for (const { file, look } of DOCS.filter(({ state }) => state === shot.name))
    await compress(await take(shot, look, visit), join(images, file));
}

async function take({ path, show }: Shot, look: Look, visit: Visit, file?: string): Promise<Buffer> {
  const person = await visit(path, look);
  await person.page.getByRole('main').waitFor();
  await show?.(person, look.isMobile === true);
  const picture = await person.page.screenshot(file === undefined ? {} : { path: file });
  // A modal belongs to the person, not to the window: the next window would show it too.
  if (await person.dialog.isVisible()) {
    await person.page.keyboard.press('Escape');
    await person.dialog.waitFor({ state: 'detached' });
  }
  await person.page.context().close();
  return picture;
}

await takeScreenshots(process.argv.slice(2));
