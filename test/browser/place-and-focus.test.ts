import { expect, test } from 'vitest';
import { overflowBlock, postCard, section } from '../playground/slack/support.ts';
import { focused, more, plain, startBlocksFixture } from './show-blocks.ts';

const show = startBlocksFixture();

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
