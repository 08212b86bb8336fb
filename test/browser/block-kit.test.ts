import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../playground/chromium/launch-chromium.ts';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import type { JsonObject } from '../../playground/slack/state/types.ts';
import { buildPage } from '../../playground/start/build-page.ts';
import { appForTest, pageForTest } from '../playground/page-server/support.ts';
import { call, overflowBlock, postCard, section } from '../playground/slack/support.ts';
import { findViolations } from './check-accessibility.ts';
import { openWindow, PHONE } from './fixture.ts';

const { general } = CHANNELS;
const plain = (text: string) => ({ type: 'plain_text', text });
const confirm = {
  title: plain('Withdraw the refund?'),
  text: plain('Nobody can approve it then.'),
  confirm: plain('Withdraw'),
  deny: plain('Keep it'),
};

const errors: string[] = [];
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium(inject('chromium'));
});
afterEach(() => expect(errors.splice(0)).toEqual([]));
afterAll(() => browser.close());

/** Posts blocks as an app that records its actions, and opens them in Alice's window. */
async function show(blocks: JsonObject[], look: BrowserContextOptions = {}) {
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
    { name: 'alice', url: server.url, path: `/alice/${general}`, errors },
    look,
  );
  onTestFinished(() => alice.page.context().close());
  const card = alice.page.locator(`[data-ts="${posted.ts}"]`);
  await card.waitFor();
  const update = (next: JsonObject[]) =>
    call(slack, 'chat.update', { channel: general, ts: posted.ts, text: 'card', blocks: next });
  return { slack, alice, card, actions, handlers, update };
}

/** Chooses an option of the overflow menu of a card. */
async function choose(card: Locator, option: string): Promise<void> {
  await card.getByRole('button', { name: 'More actions' }).click();
  await card.getByRole('menuitem', { name: option, exact: true }).click();
}

const more = (alice: PersonPage) => alice.page.getByRole('button', { name: 'More actions' });
const focused = (alice: PersonPage) => alice.page.evaluate<string>('document.activeElement.textContent');

test('an overflow menu works with the mouse: a choice is sent once, a press elsewhere closes it', async () => {
  const { alice, card, actions } = await show([overflowBlock('more', ['Edit', 'Details'])]);
  await choose(card, 'Details');
  await expect
    .poll(() => actions)
    .toMatchObject([{ type: 'overflow', selected_option: { value: 'Details' } }]);
  await expect.poll(() => more(alice).getAttribute('aria-busy')).toBe(null);
  await more(alice).click();
  await card.getByRole('menu').waitFor();
  await alice.page.getByRole('heading', { name: '#general' }).click();
  await card.getByRole('menu').waitFor({ state: 'detached' });
  expect(actions).toHaveLength(1);
});

test('an overflow menu works with the keyboard alone, and gives the focus back', async () => {
  const { alice, card, actions } = await show([overflowBlock('more', ['Edit', 'Details', 'Withdraw'])]);
  const { keyboard } = alice.page;
  await alice.tabTo(more(alice));
  await keyboard.press('Enter');
  await expect.poll(() => focused(alice)).toBe('Edit');
  for (const [key, expected] of [
    ['ArrowDown', 'Details'],
    ['End', 'Withdraw'],
    ['ArrowDown', 'Edit'],
    ['ArrowUp', 'Withdraw'],
    ['Home', 'Edit'],
  ] as const) {
    await keyboard.press(key);
    expect(await focused(alice)).toBe(expected);
  }
  await keyboard.press('Escape');
  await card.getByRole('menu').waitFor({ state: 'detached' });
  expect(await alice.hasFocus(more(alice))).toBe(true);
  await keyboard.press('ArrowUp');
  await expect.poll(() => focused(alice)).toBe('Withdraw');
  await keyboard.press('Tab');
  await card.getByRole('menu').waitFor({ state: 'detached' });
  expect(actions).toEqual([]);
  await alice.tabTo(more(alice));
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  await expect.poll(() => actions).toMatchObject([{ selected_option: { value: 'Edit' } }]);
  expect(await alice.hasFocus(more(alice))).toBe(true);
});

test('an overflow menu with a confirmation sends nothing before the person confirms', async () => {
  const { alice, card, actions } = await show([overflowBlock('more', ['Withdraw'], { confirm })]);
  await choose(card, 'Withdraw');
  await alice.dialog.getByText('Nobody can approve it then.').waitFor();
  await alice.click(alice.dialog, 'Keep it');
  await alice.dialog.waitFor({ state: 'detached' });
  expect(await alice.hasFocus(more(alice))).toBe(true);
  expect(actions).toEqual([]);
  await choose(card, 'Withdraw');
  await alice.click(alice.dialog, 'Withdraw');
  await expect.poll(() => actions).toMatchObject([{ selected_option: { value: 'Withdraw' }, confirm }]);
});

for (const [where, look] of Object.entries({
  'a low window': { viewport: { width: 1440, height: 420 } },
  'a phone': PHONE,
}))
  test(`the menu of the last card is inside the window, on ${where}`, async () => {
    const { alice, card } = await show(
      [section('x\n'.repeat(40)), overflowBlock('more', ['Edit', 'Details', 'Withdraw'])],
      look,
    );
    await more(alice).click();
    const menu = await card.getByRole('menu').boundingBox();
    const { width, height } = alice.page.viewportSize() ?? { width: 0, height: 0 };
    if (menu === null) throw new Error('The menu has no box.');
    expect(menu.y).toBeGreaterThanOrEqual(0);
    expect(menu.y + menu.height).toBeLessThanOrEqual(height);
    expect(menu.x + menu.width).toBeLessThanOrEqual(width);
    const top = await card
      .getByRole('menuitem')
      .last()
      .evaluate((item) => {
        const { left, top: y } = item.getBoundingClientRect();
        return item.ownerDocument.elementFromPoint(left + 5, y + 5) === item;
      });
    expect(top).toBe(true);
    expect(await findViolations(alice.page)).toEqual([]);
  });

test('a card without block ids that changes while its menu is open or focused keeps the focus', async () => {
  const { block_id: _given, ...menu } = overflowBlock('more', ['Edit', 'Details']);
  const { alice, card, update } = await show([section('0 of 2'), menu]);
  await alice.tabTo(more(alice));
  await update([section('1 of 2'), section('Approved by Bruno'), menu]);
  await card.getByText('1 of 2').waitFor();
  expect(await alice.hasFocus(more(alice))).toBe(true);
  await alice.page.keyboard.press('Enter');
  await expect.poll(() => focused(alice)).toBe('Edit');
  await update([section('2 of 2'), menu]);
  await card.getByText('2 of 2').waitFor();
  expect(await focused(alice)).toBe('Edit');
  await update([section('Done')]);
  await card.getByText('Done').waitFor();
  expect(await alice.hasFocus(card)).toBe(true);
});

const TALL = section('A line of the card.\n'.repeat(60));
const go = { type: 'actions', elements: [{ type: 'button', action_id: 'go', text: plain('Approve') }] };

test('a tall card that shrinks to two lines after a decision stays in view, and the focus on it', async () => {
  const { slack, alice, card, handlers, update } = await show([TALL, go]);
  for (let index = 0; index < 30; index += 1) await postCard(slack, [section(`later ${index}`)]);
  await alice.messages.getByText('later 29').waitFor();
  handlers.push(() => update([section('Approved.'), section('By Alice.')]));
  await card.getByRole('button', { name: 'Approve' }).click();
  await card.getByText('By Alice.').waitFor();
  await expect.poll(() => alice.isInView(card.getByText('By Alice.'))).toBe(true);
  expect(await alice.isInView(alice.messages.getByText('later 29'))).toBe(false);
  expect(await alice.hasFocus(card)).toBe(true);
});

test('the outcome is in view though the person had scrolled up to read the card', async () => {
  const { slack, alice, card, handlers, update } = await show([go, TALL]);
  await card.getByText('A line').first().scrollIntoViewIfNeeded();
  await card.getByRole('button', { name: 'Approve' }).scrollIntoViewIfNeeded();
  await alice.page.getByRole('button', { name: 'Latest messages' }).waitFor();
  handlers.push(async () => {
    await update([section('Approved.')]);
    await postCard(slack, [section('It ran.')]);
  });
  await card.getByRole('button', { name: 'Approve' }).click();
  const outcome = alice.messages.getByText('It ran.');
  await outcome.waitFor();
  await expect.poll(() => alice.isInView(outcome)).toBe(true);
  await expect.poll(() => alice.page.getByRole('button', { name: /messages$/ }).count()).toBe(0);
});

test('scrolling away from a focused card is respected when messages arrive', async () => {
  const { slack, alice, card } = await show([go, TALL]);
  for (let index = 0; index < 30; index += 1) await postCard(slack, [section(`later ${index}`)]);
  await card.getByRole('button', { name: 'Approve' }).focus();
  const seen = alice.messages.getByText('later 10');
  await seen.scrollIntoViewIfNeeded();
  await postCard(slack, [section('last')]);
  await alice.messages.getByText('last').waitFor({ state: 'attached' });
  expect(await alice.isInView(seen)).toBe(true);
});

test('a busy button keeps its size, so that nothing beside it moves', async () => {
  const buttons = ['Approve', 'Reject'].map((name) => ({
    type: 'button',
    action_id: name,
    text: plain(name),
  }));
  const { alice, card } = await show([{ type: 'actions', elements: buttons }]);
  await alice.page.route('**/click', (route) => route.fulfill({ json: { ok: true } }));
  const reject = card.getByRole('button', { name: 'Reject' });
  const before = await reject.boundingBox();
  await card.getByRole('button', { name: 'Approve' }).click();
  await card.locator('[aria-busy=true]').waitFor();
  expect(await reject.boundingBox()).toEqual(before);
});
