import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import { Visitor } from '../../playground/chromium/person-page.ts';
import { PLACES } from '../../playground/slack/default-cast.ts';
import { type Playground, startPlayground } from '../../playground/start-playground.ts';

/** The people of the playground, as the page's addresses name them. */
export type PersonName = 'remi' | 'alice' | 'bruno' | 'ada' | 'gil' | 'olga';

const PATIENCE_MILLISECONDS = 100_000;
const evidence = fileURLToPath(new URL('../../.playground/failures', import.meta.url));
const manifest = fileURLToPath(new URL('../../manifest.yml', import.meta.url));

/** One real playground for a file of tests, and one browser in which each person has a window of their own. */
export class Stage {
  readonly #dataFolder = mkdtempSync(join(tmpdir(), 'countersign-browser-'));
  readonly #troubles: string[] = [];
  #playground: Playground | undefined;
  #browser: Browser | undefined;

  get url(): string {
    if (this.#playground === undefined) throw new Error('the playground is not running');
    return this.#playground.url;
  }

  async start(port = 0): Promise<void> {
    const { REDIS_URL: _shared, OPENAI_API_KEY: _real, ...env } = process.env;
    this.#playground = await startPlayground({
      port,
      dataFolder: this.#dataFolder,
      manifest,
      reset: false,
      env,
      restartAfterMs: 1500,
    });
    this.#browser ??= await launchChromium(inject('chromium'));
  }

  /** Stops the whole playground and starts it again at the same address, with what it had kept. */
  async restart(): Promise<void> {
    const port = Number(new URL(this.url).port);
    await this.#playground?.stop();
    await this.start(port);
  }

  /** Opens a window as somebody; it closes with the file. */
  async visit(
    name: PersonName,
    { path = `/${name}/${PLACES.general}`, ...look }: { path?: string } & BrowserContextOptions = {},
  ): Promise<Visitor> {
    if (this.#browser === undefined) throw new Error('the browser is not running');
    const context = await this.#browser.newContext({
      baseURL: this.url,
      viewport: { width: 1440, height: 900 },
      locale: 'en-GB',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
      ...look,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MILLISECONDS);
    page.on('pageerror', (error) => this.#troubles.push(`${name}: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.#troubles.push(`${name}: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== new URL(this.url).origin)
        this.#troubles.push(`${name}: the page asked ${request.url()} for something`);
    });
    await page.goto(path);
    return new Visitor(page);
  }

  /** What went wrong inside the windows since this was last asked: errors, and requests to other machines. */
  takeTroubles(): string[] {
    return this.#troubles.splice(0);
  }

  /** Keeps pictures of the windows and the bot's log, for whoever has to find out why a test failed. */
  async keepEvidence(test: string): Promise<void> {
    const folder = join(evidence, test.replaceAll(/\W+/g, '-'));
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

/** Sets the stage for a file; every test also fails when a window has met an error. */
export function setStage(): Stage {
  const stage = new Stage();
  beforeAll(() => stage.start());
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await stage.keepEvidence(task.name);
    expect(stage.takeTroubles()).toEqual([]);
  });
  afterAll(() => stage.stop());
  return stage;
}
