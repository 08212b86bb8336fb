import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, inject, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import type { History } from '../../src/page/protocol.ts';
import { TEXTS } from '../hostile/corpus.ts';
import { inSlack, type PageStory, startPageStory } from '../page/support.ts';
import { CAST, MANIFEST } from '../stories/support.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { findViolations } from './check-accessibility.ts';
import { findUnreachable } from './check-keyboard.ts';
import { LOOKS } from './fixture.ts';

const { alice, bruno, admin } = CAST;
const DESKTOP = { viewport: { width: 1280, height: 900 } };
const SHOTS = fileURLToPath(new URL('../../.playground/page', import.meta.url));
const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script> \u202Eevil [a](https://evil.example)';
/** A long text has a test of its own: cards cut it. */
const HOSTILE = TEXTS.filter(({ text }) => text.length < 300)
  .map(({ text }) => text)
  .join('\n');

const refund = (orderId: string, amount: number, reason: string) => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount, reason } }],
});

/** A desktop at 200 %: half as many pixels of CSS in each direction. */
const ZOOMED = [
  'zoomed',
  'light',
  { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2, colorScheme: 'light' },
] as const;

/** A story with a request that was approved, one that was rejected, one that is hostile and one that waits. */
async function startFilledStory(): Promise<PageStory> {
  const story = await startPageStory({
    auditors: [admin],
    auditKey: createKeyPair().privatePem,
    manifest: MANIFEST.replace('refund_order: {', 'refund_order: { title: "Refund {{input.orderId}}",'),
    replies: [
      refund('A-1001', 12_000, 'the top is scratched'),
      { text: 'Refunded.' },
      refund(EVIL, 13_000, HOSTILE),
      refund('A-1002', 14_000, 'it came late'),
    ],
  });
  const first = story.ask('refund it');
  await first.click(alice, /Approval needed/, 'approve');
  await first.shows(/Refunded\./);
  for (const words of ['refund the other', 'refund one more']) {
    const thread = story.ask(words);
    await thread.shows(/Approval needed/);
  }
  return story;
}

async function openBrowser(): Promise<Browser> {
  const browser = await launchChromium(inject('chromium'));
  onTestFinished(() => browser.close());
  return browser;
}

/** Opens a window, signed in as somebody; an error in it, a dialog and a request to another host fail the test. */
async function openWindow(
  browser: Browser,
  { url, browserOf }: PageStory,
  who: string | undefined,
  look: BrowserContextOptions = DESKTOP,
): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ baseURL: url, locale: 'en-GB', timezoneId: 'UTC', ...look });
  if (who !== undefined)
    await context.addCookies(
      [...(await browserOf(who)).jar].map(([name, value]) => ({
        ...{ name, value, url, httpOnly: true, secure: true, sameSite: 'Lax' as const },
      })),
    );
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    // The first question is who is signed in, and the answer may be: nobody.
    if (message.type() === 'error' && !message.text().includes('401')) errors.push(message.text());
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) errors.push(`asked ${request.url()}`);
  });
  return { page, errors };
}

/** The views: where each is, and what it shows when it is there. */
async function viewsOf(
  story: PageStory,
): Promise<readonly [string, string, (page: Page) => Promise<unknown>][]> {
  const auditor = await story.browserOf(admin);
  const history = (await (await auditor.get(`${story.url}/page/api/history`)).json()) as History;
  const idOf = (words: string) =>
    encodeURIComponent(history.items.find(({ title }) => title.includes(words))?.id ?? '');
  const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, level: 1 }).waitFor();
  return [
    ['inbox', '/page/', (page) => page.getByRole('list', { name: 'History' }).waitFor()],
    [
      'search',
      '/page/?text=A-1001&state=succeeded',
      (page) => page.getByText('1 request', { exact: true }).waitFor(),
    ],
    ['request-done', `/page/requests/${idOf('A-1001')}`, heading('Refund A-1001')],
    ['request-waiting', `/page/requests/${idOf('A-1002')}`, heading('Refund A-1002')],
    [
      'request-hostile',
      `/page/requests/${idOf('evil')}`,
      (page) => page.getByRole('heading', { name: 'What happened' }).waitFor(),
    ],
    ['log', '/page/log', (page) => page.getByText('The log is intact.').waitFor()],
    ['log-row', '/page/log?row=2', (page) => page.getByRole('link', { name: 'Link to row 2' }).waitFor()],
    ['figures', '/page/figures', (page) => page.getByRole('heading', { name: 'Outcomes' }).waitFor()],
    ['manifest', '/page/manifest', (page) => page.getByText('What would happen if…').waitFor()],
    ['not-here', '/page/nothing', heading("Page not found, or you don't have access")],
  ];
}

async function lookAtAll(story: PageStory, browser: Browser): Promise<void> {
  const views = await viewsOf(story);
  mkdirSync(SHOTS, { recursive: true });
  const findings: string[] = [];
  for (const [device, colour, look] of [...LOOKS, ZOOMED]) {
    const { page, errors } = await openWindow(browser, story, admin, { ...DESKTOP, ...look });
    for (const [name, path, isShown] of views) {
      const state = `${name}-${device}-${colour}`;
      await page.goto(path);
      await isShown(page);
      for (const finding of await findViolations(page)) findings.push(`${state}: ${finding}`);
      const wide = await page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
      if (wide === true) findings.push(`${state}: scrolls sideways`);
      await page.screenshot({ path: join(SHOTS, `${state}.png`), fullPage: true });
      for (const finding of await findUnreachable(page)) findings.push(`${state}: ${finding}`);
    }
    expect(errors).toEqual([]);
    await page.context().close();
  }
  expect(findings).toEqual([]);
}

async function signInAndOut(story: PageStory, browser: Browser): Promise<void> {
  const { page } = await openWindow(browser, story, undefined);
  const [, , [, path]] = (await viewsOf(story)) as [unknown, unknown, [string, string]];
  story.provider.person = inSlack(alice, story.team);
  await page.goto(path);
  expect(await findViolations(page)).toEqual([]);
  await page.screenshot({ path: join(SHOTS, 'sign-in.png') });
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Refund A-1001' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(path);
  // Alice is no auditor.
  expect(await page.getByRole('link', { name: 'Log' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.getByRole('link', { name: 'Refund A-1002' }).first().waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign in' }).waitFor();
  expect(await page.evaluate('document.cookie')).toBe('');
}

async function useKeyboard(story: PageStory, browser: Browser): Promise<void> {
  const { page, errors } = await openWindow(browser, story, admin);
  await page.goto('/page/');
  await page.getByRole('searchbox', { name: 'Title' }).focus();
  await page.keyboard.type('A-1001');
  await page.keyboard.press('Enter');
  await page.getByText('1 request', { exact: true }).waitFor();
  await page.getByRole('list', { name: 'History' }).getByRole('link').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Refund A-1001', level: 1 }).waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await page.goBack();
  await page.getByText('1 request', { exact: true }).waitFor();
  await page.goto('/page/manifest');
  await page.getByRole('combobox', { name: /this person/ }).fill('Alice');
  await page.getByRole('combobox', { name: 'called this tool' }).selectOption('refund_order');
  await page.getByRole('textbox', { name: /these arguments/ }).fill('{"orderId":"A-1001","amount":20000}');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('If alice called it now:').waitFor();
  await page.getByText(/Needs approval by policy "default"/).waitFor();
  await page.screenshot({ path: join(SHOTS, 'explained.png'), fullPage: true });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Ask');
  // The question is in the address, and so is its answer for whoever opens it.
  await page.reload();
  await page.getByText(/Needs approval by policy "default"/).waitFor();
  expect(await page.getByRole('combobox', { name: /this person/ }).inputValue()).toBe('Alice');
  expect(await page.getByTitle(alice).first().textContent()).toBe('alice');
  expect(errors).toEqual([]);
}

/** Looks for an element, a link or a request that came of a hostile value. */
async function lookForMarkup(story: PageStory, browser: Browser): Promise<void> {
  const { page, errors } = await openWindow(browser, story, admin);
  const views = await viewsOf(story);
  for (const name of ['inbox', 'request-hostile', 'log', 'figures', 'manifest']) {
    const [, path = '', isShown] = views.find(([view]) => view === name) ?? [];
    await page.goto(path);
    await isShown?.(page);
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
    const strange = await page.evaluate(`[
      ...document.querySelectorAll('main img, main script, main iframe, main object, main style, main [onerror], main [style]'),
      ...[...document.querySelectorAll('main a')].filter((link) => link.origin !== location.origin && !link.href.includes('/archives/')),
    ].map((element) => element.outerHTML)`);
    expect([name, strange]).toEqual([name, []]);
    const text = String(await page.evaluate('document.body.innerText'));
    // What turns the direction of a line, or cannot be seen, is written out.
    expect([name, text.match(/[\u202A-\u202E\u2066-\u2069\u200B\u200E\u200F\u{E0000}-\u{E007F}]/u)]).toEqual([
      name,
      null,
    ]);
    if (name !== 'figures' && name !== 'manifest') expect(text).toContain('<img src=x onerror=alert(1)>');
  }
  expect(errors).toEqual([]);
}

/** Changes a row of the log behind the bot's back, and looks at it. */
async function lookAtBrokenLog(story: PageStory, browser: Browser): Promise<void> {
  const [key = ''] = (await story.redis.keys(`{${story.prefix}}:audit`)) ?? [];
  const entries = await story.redis.xrange(key, '-', '+');
  await story.redis.del(key);
  const voted = entries.find(([, fields]) => fields.includes('voted'))?.[0];
  for (const [id, fields] of entries)
    await story.redis.xadd(
      key,
      id,
      ...(id === voted ? fields.map((field) => field.replace(alice, admin)) : fields),
    );
  const { page, errors } = await openWindow(browser, story, admin);
  await page.goto('/page/log');
  await page.getByText('The log was changed.').waitFor();
  await page
    .getByText(/^(The log was changed\. )?Row \d+ is not/)
    .first()
    .waitFor();
  await page.screenshot({ path: join(SHOTS, 'log-broken.png'), fullPage: true });
  expect(await findViolations(page)).toEqual([]);
  expect(errors).toEqual([]);
}

test('the page in a browser: sign-in and out, the keyboard alone, every view on desktop and phone, in light and dark, without axe violations, hostile values as text, and the first break of a changed log', async () => {
  mkdirSync(SHOTS, { recursive: true });
  const story = await startFilledStory();
  const browser = await openBrowser();
  await signInAndOut(story, browser);
  await useKeyboard(story, browser);
  await lookAtAll(story, browser);
  await lookForMarkup(story, browser);
  await lookAtBrokenLog(story, browser);
});

test('what is open follows by itself, in one time zone, and says above everything when the session has ended', async () => {
  const story = await startPageStory({
    auditors: [admin],
    manifest: MANIFEST.replace('refund_order: {', 'refund_order: { title: "Refund {{input.orderId}}",'),
    replies: [
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Tomo Arai' } }] },
      { text: 'Deleted.' },
    ],
  });
  const thread = story.ask('delete it');
  await thread.shows(/Approval needed/);
  const { page, errors } = await openWindow(await openBrowser(), story, admin, {
    ...DESKTOP,
    timezoneId: 'America/New_York',
  });
  await page.goto('/page/');
  const item = page.getByRole('list', { name: 'History' }).getByRole('listitem').first();
  await item.getByText('Waiting', { exact: true }).waitFor();
  await page.getByText(/^Updated \d/).waitFor();
  await thread.click(alice, /Approval needed/, 'approve');
  await item.getByText('1 of 2 approvals', { exact: true }).waitFor();
  await item.getByText('alice approved').waitFor();
  expect(await item.innerText()).not.toContain('approved by');
  await thread.click(bruno, /1 of 2/, 'approve');
  await thread.shows(/Deleted\./);
  await item.getByText('Done', { exact: true }).waitFor();
  await item.getByText('approved by alice, bruno').waitFor();

  await item.getByRole('link').click();
  await page.getByText('All times in America/New_York.').waitFor();
  await page.getByText('Details and raw data').click();
  await page.getByText('Decided', { exact: true }).waitFor();
  expect(await page.locator('body').innerText()).not.toMatch(/UTC/);
  // Every time is one of that zone, and says it whole to who points at it.
  const told = await page.evaluate<string[]>(`[...document.querySelectorAll('time')].map((each) =>
    each.title === new Date(each.dateTime).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })
      ? ''
      : each.title)`);
  expect(nonEmpty(told).filter((title) => title !== '')).toEqual([]);

  await page.context().clearCookies();
  const notice = page.getByRole('alert').filter({ hasText: 'Your session has ended. Sign in again.' });
  await notice.waitFor();
  expect((await notice.boundingBox())?.width).toBe(DESKTOP.viewport.width);
  await page.getByText('All times in America/New_York.').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.screenshot({ path: join(SHOTS, 'session-ended.png') });
  const { pathname } = new URL(page.url());
  expect(errors).toEqual([]);
  story.provider.person = inSlack(admin, story.team);
  await notice.getByRole('link', { name: 'Sign in' }).click();
  await page.getByText('All times in America/New_York.').waitFor();
  expect(new URL(page.url()).pathname).toBe(pathname);
  expect(await page.getByRole('alert').count()).toBe(0);
});

/** Writes decided requests into the log. */
async function decide(store: PageStory['bot']['context']['store'], from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += 200)
    await Promise.all(
      Array.from({ length: Math.min(200, to - first) }, async (_, index) => {
        const id = `C1:${first + index}~a`;
        const asked = { tool: 'refund_order', title: `Refund ${first + index}`, requester: 'U-req' };
        await store.note(randomUUID(), 'asked', id, asked);
        await store.note(randomUUID(), 'approved', id, {});
      }),
    );
}

test('the list and a search are there in Chromium with 10,000 decided requests as with 100; how much later is printed', async () => {
  const story = await startPageStory({ auditors: [admin] });
  const { page } = await openWindow(await openBrowser(), story, admin);
  const items = page.getByRole('list', { name: 'History' }).getByRole('listitem');
  const shown = async (path: string, title: string): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const begun = performance.now();
      await page.goto(path);
      await items.getByText(title, { exact: true }).first().waitFor();
      times.push(performance.now() - begun);
    }
    return times.sort((one, other) => one - other)[2] ?? Number.NaN;
  };
  const measured: number[][] = [];
  for (const [before, requests] of [
    [0, 100],
    [100, 10_000],
  ] as const) {
    await decide(story.bot.context.store, before, requests);
    // The first look reads the log.
    await page.goto('/page/');
    const newest = `Refund ${requests - 1}`;
    measured.push([await shown('/page/', newest), await shown('/page/?text=refund&person=u-req', newest)]);
    expect(await items.count()).toBe(50);
  }
  const [few = [], many = []] = measured;
  const ratios = many.map((time, index) => (time / (few[index] ?? Number.NaN)).toFixed(2));
  process.stdout.write(
    `10,000 decided requests of 100, to the list in Chromium: ${ratios[0]}; a search: ${ratios[1]}\n`,
  );
});
