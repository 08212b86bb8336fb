import { beforeAll, expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { startFixture } from './fixture.ts';

const DELETION = 'Please delete the customer Tomo Arai.';

const playground = startFixture();
let remi: PersonPage;
let alice: PersonPage;

beforeAll(async () => {
  [remi, alice] = await Promise.all([playground.openAs('remi'), playground.openAs('alice')]);
});

test('a reload keeps the thread, the card, the vote and the draft', async () => {
  await remi.ask(DELETION);
  await alice.openThread(DELETION);
  await alice.approveTyped(alice.pendingCard('Delete customer'), 'Tomo Arai');
  await alice.pendingCard('Delete customer').getByText('1 of 2 approvals').waitFor();
  await alice.thread.getByRole('textbox', { name: 'Reply' }).fill('I have looked at');
  await alice.page.reload();
  await alice.pendingCard('Delete customer').getByText('1 of 2 approvals').waitFor();
  expect(await alice.thread.getByRole('textbox', { name: 'Reply' }).inputValue()).toBe('I have looked at');
});

test('a message sent while the bot is down is answered when it is back', async () => {
  const words = 'Please refund 21 dollars of order A-1001.';
  await remi.openStep('Kill the bot during an action');
  await remi.click(remi.tour, 'Kill the bot now');
  await remi.sidebar.getByText('Countersign: down, restarting soon').waitFor();
  await remi.ask(words);
  await remi.openThread(words);
  await remi.waitForText(/Refunded \$21\.00 of order A-1001\./);
});

test('a restart of everything keeps messages, cards and votes in open windows, and work continues', async () => {
  await playground.restart();
  // Connection errors are expected while the playground is down.
  playground.takeErrors();
  await alice.pendingCard('Delete customer').getByText('1 of 2 approvals').waitFor();
  await alice.choose(alice.pendingCard('Delete customer'), 'Details');
  await alice.dialog.getByText('customer: "Tomo Arai"').waitFor();
  await alice.page.keyboard.press('Escape');

  const bruno = await playground.openAs('bruno', { path: `/bruno/${CHANNELS.general}` });
  await bruno.openThread(DELETION);
  await bruno.approveTyped(bruno.pendingCard('Delete customer'), 'Tomo Arai');
  await alice.waitForText('Deleted Tomo Arai and 1 order.');
});
