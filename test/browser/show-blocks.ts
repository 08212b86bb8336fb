import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import type { JsonObject } from '../../playground/slack/state/types.ts';
import { buildPage } from '../../playground/start/build-page.ts';
import { appForTest, pageForTest } from '../playground/page-server/support.ts';
import { call, postCard } from '../playground/slack/support.ts';
import { openWindow } from './fixture.ts';

/** Launches a browser for a test file; a test also fails when a window has an error. Returns what shows blocks in it. */
export function startBlocksFixture() {
  const errors: string[] = [];
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(inject('chromium'));
  });
  afterEach(() => expect(errors.splice(0)).toEqual([]));
  afterAll(() => browser.close());
  return (blocks: JsonObject[], look: BrowserContextOptions = {}) =>
    showBlocks(browser, errors, blocks, look);
}

/** Posts blocks as an app that records its actions, and opens them in Alice's window. */
async function showBlocks(
  browser: Browser,
  errors: string[],
  blocks: JsonObject[],
  look: BrowserContextOptions,
) {
  const files = await buildPage({ log: () => {} });
  const { slack, server } = await pageForTest({ page: { files } });
  const actions: JsonObject[] = [];
  const handlers: (() => Promise<unknown>)[] = [];
  await appForTest(slack, (app) =>
    app.action(/.*/, async ({ ack, action }) => {
      await ack();
      actions.push({ ...action });
      for (const handle of handlers) await handle();
    }),
  );
  const posted = await postCard(slack, blocks);
  const alice = await openWindow(
    browser,
    { name: 'alice', url: server.url, path: `/alice/${CHANNELS.general}`, errors },
    look,
  );
  onTestFinished(() => alice.page.context().close());
  const card = alice.page.locator(`[data-ts="${posted.ts}"]`);
  await card.waitFor();
  const update = (next: JsonObject[]) =>
    call(slack, 'chat.update', { channel: CHANNELS.general, ts: posted.ts, text: 'card', blocks: next });
  return { slack, alice, card, actions, handlers, update };
}

/** A `plain_text` object. */
export const plain = (text: string) => ({ type: 'plain_text', text });

/** The button of the overflow menu. */
export const more = (person: PersonPage) => person.page.getByRole('button', { name: 'More actions' });

/** The text of the focused element. */
export const focused = (person: PersonPage) =>
  person.page.evaluate<string>('document.activeElement.textContent');
