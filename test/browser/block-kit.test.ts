import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { overflowBlock, section } from '../playground/slack/support.ts';
import { findViolations } from './check-accessibility.ts';
import { PHONE } from './fixture.ts';
import { focused, more, plain, startBlocksFixture } from './show-blocks.ts';

const show = startBlocksFixture();
const confirm = {
  title: plain('Withdraw the refund?'),
  text: plain('Nobody can approve it then.'),
  confirm: plain('Withdraw'),
  deny: plain('Keep it'),
};

/** Chooses an option of the overflow menu of a card. */
async function choose(card: Locator, option: string): Promise<void> {
  await card.getByRole('button', { name: 'More actions' }).click();
  await card.getByRole('menuitem', { name: option, exact: true }).click();
}

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

const line = (text: string) => ({ type: 'rich_text_section', elements: [{ type: 'text', text }] });
const CARD = [
  { type: 'header', text: plain('Refund $120.00 of order A-1001') },
  { type: 'context', elements: [plain('Requested by *Remi* <!channel>')] },
  { type: 'section', fields: [plain('Order\nA-1001'), { type: 'mrkdwn', text: '*Amount*\n$120.00' }] },
  { type: 'divider' },
  {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text: '{\n  "amount": 12000\n}' }] },
      { type: 'rich_text_quote', elements: [{ type: 'text', text: 'It came late.' }] },
      { type: 'rich_text_list', style: 'bullet', elements: [line('Before'), line('After')] },
      { type: 'rich_text_list', style: 'ordered', indent: 1, elements: [line('Nested')] },
    ],
  },
  {
    type: 'actions',
    elements: [
      { type: 'button', action_id: 'reject', text: plain('Reject') },
      {
        type: 'button',
        action_id: 'approve',
        style: 'danger',
        text: plain('Approve'),
        confirm: { ...confirm, style: 'danger' },
      },
    ],
  },
];

for (const colorScheme of ['light', 'dark'] as const)
  test(`a card's blocks look as in Slack, and its plain text stays plain, ${colorScheme}`, async () => {
    const { alice, card } = await show(CARD, { colorScheme });
    await card.getByRole('heading', { name: 'Refund $120.00 of order A-1001' }).waitFor();
    await card.getByText('Requested by *Remi* <!channel>', { exact: true }).waitFor();
    await card.locator('strong', { hasText: 'Amount' }).waitFor();
    await card.getByRole('separator').waitFor();
    expect(await card.locator('pre').textContent()).toBe('{\n  "amount": 12000\n}');
    await card.getByRole('blockquote').getByText('It came late.').waitFor();
    const styleOf = (target: Locator, property: string) =>
      target.evaluate(
        (element, name) => element.ownerDocument.defaultView.getComputedStyle(element)[name],
        property,
      );
    expect(await styleOf(card.locator('ol'), 'listStyleType')).toBe('lower-alpha');
    expect(await findViolations(alice.page)).toEqual([]);

    const [approve, reject] = ['Approve', 'Reject'].map((name) => card.getByRole('button', { name }));
    if (approve === undefined || reject === undefined) throw new Error('There are no buttons.');
    const red = await styleOf(approve, 'backgroundColor');
    expect(await styleOf(reject, 'backgroundColor')).not.toBe(red);
    await approve.click();
    const sure = alice.dialog.getByRole('button', { name: 'Withdraw' });
    await expect.poll(() => alice.hasFocus(sure)).toBe(true);
    expect(await styleOf(sure, 'backgroundColor')).toBe(red);
    expect(await findViolations(alice.page)).toEqual([]);
  });

const WORDS = ['Invoice', 'Customer', 'Outstanding', 'Reminders', 'Responsible', 'Department'];
const cells = (texts: readonly string[]) => texts.map((text) => ({ type: 'raw_text', text }));
const row = (texts: readonly string[]) => `| ${texts.join(' | ')} |`;
const TABLES = {
  block: { type: 'table', rows: [cells(WORDS), cells(WORDS)] },
  markdown: { type: 'markdown', text: [row(WORDS), row(WORDS.map(() => '---')), row(WORDS)].join('\n') },
};

for (const [name, table] of Object.entries(TABLES))
  test(`a wide table of a ${name} scrolls on a phone, and no word in it is broken`, async () => {
    const { alice, card } = await show([table], PHONE);
    await card.getByRole('table').waitFor();
    const lines = await card.locator('th, td').evaluateAll((found) =>
      found.map((cell) => {
        const range = cell.ownerDocument.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size;
      }),
    );
    expect(lines).toEqual([...WORDS, ...WORDS].map(() => 1));
    expect(await alice.page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      360,
    );
  });
