import { beforeAll, expect, test } from 'vitest';
import type { Visitor } from '../../playground/chromium/person-page.ts';
import { PLACES } from '../../playground/slack/default-cast.ts';
import { setStage } from './stage.ts';

const DELETION = 'Please delete the customer Tomo Arai.';

const stage = setStage();
let remi: Visitor;
let alice: Visitor;

beforeAll(async () => {
  [remi, alice] = await Promise.all([stage.visit('remi'), stage.visit('alice')]);
});

test('a reload in the middle keeps the thread, the card, the signature and what one had begun to type', async () => {
  await remi.ask(DELETION);
  await alice.openThread(DELETION);
  await alice.click(alice.pendingCard('delete_customer'), 'Approve');
  await alice.click(alice.dialog, 'Approve');
  await alice.pendingCard('delete_customer').getByText('1 of 2 signed').waitFor();
  await alice.thread.getByRole('textbox', { name: 'Reply' }).fill('I have looked at');
  await alice.page.reload();
  await alice.pendingCard('delete_customer').getByText('1 of 2 signed').waitFor();
  expect(await alice.thread.getByRole('textbox', { name: 'Reply' }).inputValue()).toBe('I have looked at');
});

test('what is said while the bot is down is answered when it is back', async () => {
  const words = 'Please refund 21 dollars of order A-1001.';
  await remi.tour.getByRole('button', { name: 'Kill the bot in the middle' }).click();
  await remi.click(remi.tour, 'Kill the bot now');
  await remi.sidebar.getByText('Countersign: down, starts again soon').waitFor();
  await remi.ask(words);
  await remi.openThread(words);
  await remi.reads(/Refunded \$21\.00 of order A-1001\./);
});

test('a stop and a start of everything keeps messages, card and signature in open windows, and it goes on', async () => {
  await stage.restart();
  // While nothing answered, the windows could only complain.
  stage.takeTroubles();
  await alice.pendingCard('delete_customer').getByText('1 of 2 signed').waitFor();
  await alice.click(alice.pendingCard('delete_customer'), 'Details');
  await alice.dialog.getByText('customer: "Tomo Arai"').waitFor();
  await alice.page.keyboard.press('Escape');

  const bruno = await stage.visit('bruno', { path: `/bruno/${PLACES.general}` });
  await bruno.openThread(DELETION);
  await bruno.click(bruno.pendingCard('delete_customer'), 'Approve');
  await bruno.click(bruno.dialog, 'Approve');
  await alice.reads('Tomo Arai is deleted, with 1 order.');
});
