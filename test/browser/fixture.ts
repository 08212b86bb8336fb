import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import { PersonPage } from '../../playground/chromium/person-page.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { type Playground, startPlayground } from '../../playground/start-playground.ts';
import { countFor } from '../support/count-for.ts';

/** The people of the playground, as the page's addresses name them. */
export type PersonName = 'remi' | 'alice' | 'bruno' | 'ada' | 'gil' | 'olga';

/** The look of a phone. */
export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** Devices and colours: each once, which shows all layouts and all colours; `COUNTERSIGN_LOOKS=4` plays every pair. */
export const LOOKS = (
  [
    ['desktop', 'light', { colorScheme: 'light' }],
    ['phone', 'dark', { ...PHONE, colorScheme: 'dark' }],
    ['desktop', 'dark', { colorScheme: 'dark' }],
    ['phone', 'light', { ...PHONE, colorScheme: 'light' }],
  ] as const
).slice(0, countFor('LOOKS', { quick: 2, full: 2 }));

const TIMEOUT_MS = 100_000;
const failuresFolder = fileURLToPath(new URL('../../.playground/failures', import.meta.url));
const manifest = fileURLToPath(new URL('../../examples/shop/manifest.yml', import.meta.url));

export interface FixtureOptions {
  /** Begins with a card that waits, as `npm run playground` does. */
  readonly withOpening?: boolean;
}

/** One real playground for a test file, and one browser with a window per person. */
export class PlaygroundFixture {
  readonly #dataFolder = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
  readonly errors: string[] = [];
  readonly #withOpening: boolean;
  #playground: Playground | undefined;
  #browser: Browser | undefined;

  constructor({ withOpening = false }: FixtureOptions = {}) {
    this.#withOpening = withOpening;
  }

  get url(): string {
    return this.playground.url;
  }

  get playground(): Playground {
    if (this.#playground === undefined) throw new Error('the playground is not running');
    return this.#playground;
  }

  async start(port?: number): Promise<void> {
    const { REDIS_URL: _shared, OPENAI_API_KEY: _real, ...env } = process.env;
    this.#playground = await startPlayground({
      // Nobody takes it while the playground restarts.
      port: port ?? (await findFreePort()),
      dataFolder: this.#dataFolder,
      manifest,
      reset: false,
      env,
      restartAfterMs: 1500,
      withOpening: this.#withOpening,
    });
    this.#browser ??= await launchChromium(inject('chromium'));
  }

  /** Restarts the whole playground at the same address with its saved state. */
  async restart(): Promise<void> {
    const port = Number(new URL(this.url).port);
    await this.#playground?.stop();
    await this.start(port);
  }

  /** Opens a window as a person; it closes with the file. */
  async openAs(
    name: PersonName,
    { path = `/${name}/${CHANNELS.general}`, ...look }: { path?: string } & BrowserContextOptions = {},
  ): Promise<PersonPage> {
    if (this.#browser === undefined) throw new Error('the browser is not running');
    return await openWindow(this.#browser, { name, url: this.url, path, errors: this.errors }, look);
  }

  /** Returns and clears the errors of the windows: exceptions, and requests to other machines. */
  takeErrors(): string[] {
    return this.errors.splice(0);
  }

  /** Saves screenshots of the windows and the bot's log for a failed test. */
  async saveScreenshots(test: string): Promise<void> {
    const folder = join(failuresFolder, test.replaceAll(/\W+/g, '-'));
    mkdirSync(folder, { recursive: true });
    const pages = (this.#browser?.contexts() ?? []).flatMap((context) => context.pages());
    for (const [index, page] of pages.entries())
      await page.screenshot({ path: join(folder, `window-${index + 1}.png`) });
    copyFileSync(join(this.#dataFolder, 'bot.log'), join(folder, 'bot.log'));
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    await this.#playground?.stop();
    rmSync(this.#dataFolder, { recursive: true, force: true });
  }
}

interface WindowOptions {
  readonly name: PersonName;
  readonly url: string;
  readonly path: string;
  /** Gets the errors of the window: exceptions, and requests to other machines. */
  readonly errors: string[];
}

/** Opens a window as a person. */
export async function openWindow(
  browser: Browser,
  { name, url, path, errors }: WindowOptions,
  look: BrowserContextOptions = {},
): Promise<PersonPage> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
    ...look,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  page.on('pageerror', (error) => errors.push(`${name}: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`${name}: ${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin)
      errors.push(`${name}: the page asked ${request.url()} for something`);
  });
  await page.goto(path);
  return new PersonPage(page);
}

/** Starts the fixture of a test file; a test also fails when a window has an error. */
export function startFixture(options: FixtureOptions = {}): PlaygroundFixture {
  const fixture = new PlaygroundFixture(options);
  beforeAll(() => fixture.start());
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await fixture.saveScreenshots(task.name);
    expect(fixture.takeErrors()).toEqual([]);
  });
  afterAll(() => fixture.stop());
  return fixture;
}
