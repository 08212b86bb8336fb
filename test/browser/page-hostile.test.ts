import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { expect, inject, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import { showLine, showText } from '../../src/bot/views/texts/show-text.ts';
import type { History, LogRow, RequestView } from '../../src/page/protocol.ts';
import { itemOf, viewOf } from '../../src/page/request-view.ts';
import { readLine } from '../bot/views/cards/read-rendered.ts';
import { detailsFor, recordOf } from '../bot/views/cards/records.ts';
import { anyText } from '../bot/views/cards/values.ts';
import { type PageStory, startPageStory } from '../page/support.ts';
import { CAST } from '../stories/support.ts';

const { admin } = CAST;
/** The values that are shown: each text is five, in five places of two views. */
const VALUES = 4_000;
const AT_ONCE = 500;
const PLACES = 5;
/** Of longer texts a card's test has many; here they would only take time. */
const LONGEST = 600;

const UNSEEN = '[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--[\\n]]';
const UNSEEN_OR_EMOJI = new RegExp(`\\p{RGI_Emoji}|(${UNSEEN})`, 'gv');
const hiddenIn = (text: string) => [...text.matchAll(UNSEEN_OR_EMOJI)].flatMap(([, unseen]) => unseen ?? []);

/** The request as the page's server writes it, with a text in each field and in each of its rows in the log. */
function viewWith(texts: readonly string[]): RequestView {
  const fields = texts.map((text) => ({ label: text, text }));
  const presented = { title: 'Refund', fields, isComplete: true, hasTitle: true };
  const view = viewOf(recordOf({ details: detailsFor({}, { presented }) }));
  const rows = texts.map(
    (text, index): LogRow => ({
      ...{ v: 1, seq: index + 1, at: 0, event: 'asked', subject: 'C1:1~a', hash: '0'.repeat(40) },
      ...{ detail: text, body: text },
    }),
  );
  return { ...view, rules: [], rows, names: {} };
}

function historyWith(texts: readonly string[]): History {
  const items = texts.map((title, index) =>
    itemOf({
      ...{ id: `C1:${index}~a`, kind: 'approval', title, tool: 'x', searched: '', policy: '', rule: '' },
      ...{ requesters: [], askedAt: 0, state: 'pending', decidedAt: undefined, endedAt: undefined },
      ...{ votes: [], approvals: undefined, because: undefined, rows: [] },
    }),
  );
  return { items, names: {}, total: items.length, page: 1, pages: 1, unnamed: 0, states: [] };
}

/** Opens the page, whose server answers with given views; an error, a dialog and a request to another host are noted. */
async function openPage({ url, browserOf }: PageStory) {
  const browser = await launchChromium(inject('chromium'));
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ baseURL: url });
  await context.addCookies(
    [...(await browserOf(admin)).jar].map(([name, value]) => ({
      ...{ name, value, url, httpOnly: true, secure: true, sameSite: 'Lax' as const },
    })),
  );
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('dialog', (dialog) => errors.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) errors.push(`asked ${request.url()}`);
  });
  return { page, errors };
}

/** Reads what elements show: their text, and whether each blank of it is seen. */
function shownIn(page: Page, selector: string): Promise<[string, boolean][]> {
  return page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => [
      element.textContent,
      getComputedStyle(element.querySelector('pre') ?? element).whiteSpace.startsWith('pre'),
    ])`,
  );
}

/** Compares what is shown with the texts: nothing hidden, nothing cut, and the same bytes when it is read back. */
async function expectShown(
  page: Page,
  selector: string,
  texts: readonly string[],
  show: (text: string) => string,
): Promise<void> {
  const shown = await shownIn(page, selector);
  expect(shown.map(([text]) => text)).toEqual(texts.map(show));
  expect(shown.every(([, isExact]) => isExact)).toBe(true);
  for (const [index, [text]] of shown.entries()) {
    expect(hiddenIn(text)).toEqual([]);
    const read = text.split('\n').map(readLine).join('\n');
    expect(read).toBe(texts[index]);
  }
}

const LIVE = `[
  ...document.querySelectorAll('main :is(img, script, iframe, object, embed, style, form[action], [onerror], [onclick], [style])'),
  ...[...document.querySelectorAll('main a')].filter((link) => link.origin !== location.origin),
].map((element) => element.outerHTML.slice(0, 200))`;

test('hostile values are shown on the page byte for byte, in lists, fields and rows of the log: nothing live, nothing hidden, nothing cut', async () => {
  const story = await startPageStory({ auditors: [admin] });
  const { page, errors } = await openPage(story);
  // An empty body of a row has no box.
  const texts = fc.sample(
    anyText.filter((text) => text !== '' && text.length <= LONGEST),
    Math.ceil(VALUES / PLACES),
  );
  for (let from = 0; from < texts.length; from += AT_ONCE) {
    const part = texts.slice(from, from + AT_ONCE);
    await page.unrouteAll();
    await page.route('**/page/api/requests/*', (route) => route.fulfill({ json: viewWith(part) }));
    await page.route('**/page/api/history?*', (route) => route.fulfill({ json: historyWith(part) }));
    await page.goto('/page/requests/C1%3A1~a');
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    await expectShown(page, '.fields dt', part, showLine);
    await expectShown(page, '.fields dd', part, showText);
    await expectShown(page, '.rows .detail', part, showLine);
    await expectShown(page, '.rows pre', part, showText);
    expect(await page.evaluate(LIVE)).toEqual([]);
    await page.goto('/page/');
    await page.getByRole('list', { name: 'History' }).waitFor();
    await expectShown(page, 'ul[aria-label="History"] h3 .untrusted', part, showLine);
    expect(await page.evaluate(LIVE)).toEqual([]);
  }
  expect(errors).toEqual([]);
});
