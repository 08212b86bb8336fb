import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { bringUpChromium } from '../playground/chromium/bring-up-chromium.ts';
import { launchChromium } from '../playground/chromium/launch-chromium.ts';
import { PersonPage } from '../playground/chromium/person-page.ts';
import { startPlayground } from '../playground/start-playground.ts';
import { createStates, FIRST_SHOTS, type Shot } from './screenshot-states.ts';

type Look = Pick<BrowserContextOptions, 'viewport' | 'hasTouch' | 'isMobile' | 'colorScheme'>;
type Visit = (path: string, look: Look) => Promise<PersonPage>;

const WIDE: Look = { viewport: { width: 1440, height: 900 } };
const NARROW: Look = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const TIMEOUT_MS = 60_000;

const LOOKS: Readonly<Record<string, Look>> = {
  'wide-light': { ...WIDE, colorScheme: 'light' },
  'wide-dark': { ...WIDE, colorScheme: 'dark' },
  'narrow-light': { ...NARROW, colorScheme: 'light' },
  'narrow-dark': { ...NARROW, colorScheme: 'dark' },
};

/** The screenshots that the docs use; a wide one is narrower to keep the file small. */
const DOCS: readonly { readonly state: string; readonly file: string; readonly look: Look }[] = [
  {
    state: 'pending',
    file: 'pending-approval.png',
    look: { viewport: { width: 1200, height: 750 }, colorScheme: 'light' },
  },
  { state: 'pending', file: 'phone-dark.png', look: { ...NARROW, colorScheme: 'dark' } },
];

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
    for (const shot of FIRST_SHOTS) await takeInEachLook(shot, visit);
    for (const shot of await createStates((path) => visit(path, WIDE))) await takeInEachLook(shot, visit);
  } finally {
    await browser.close();
    await playground.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  }
  log(`Screenshots are in ${folder}, those of the docs in docs/images.`);
}

async function takeInEachLook(shot: Shot, visit: Visit): Promise<void> {
  for (const [look, settings] of Object.entries(LOOKS))
    await take(shot, settings, join(folder, `${shot.name}-${look}.png`), visit);
  for (const { file, look } of DOCS.filter(({ state }) => state === shot.name))
    compress(await take(shot, look, join(images, file), visit));
}

/** Makes a file of the docs about three times smaller, where pngquant is installed. */
function compress(file: string): void {
  spawnSync('pngquant', ['--nofs', '--force', '--output', file, '64', file]);
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

async function take({ path, show }: Shot, look: Look, file: string, visit: Visit): Promise<string> {
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
  return file;
}

await takeScreenshots();
