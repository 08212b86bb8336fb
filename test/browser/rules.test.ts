import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { startFixture } from './fixture.ts';

const playground = startFixture();
let remi: PersonPage;
let alice: PersonPage;

beforeAll(async () => {
  [remi, alice] = await Promise.all([playground.openAs('remi'), playground.openAs('alice')]);
});
beforeEach(async () => {
  for (const who of [remi, alice]) await who.conversationLink(/general/).click();
});

test('new messages are marked until the person has read them', async () => {
  const words = 'Please refund 130 dollars of order A-1001.';
  await alice.conversationLink(/releases/).click();
  await remi.ask(words);
  await alice.conversationLink(/general.*unread/).waitFor();
  const direct = alice.conversationLink(/Countersign.*unread.*for you/);
  await direct.waitFor();
  expect(await alice.page.title()).toMatch(/^\(?\d/);

  await alice.conversationLink(/general/).click();
  await alice.openThread(words);
  await alice.conversationLink(/general.*unread/).waitFor({ state: 'detached' });
  await direct.click();
  await alice.messages
    .getByText(/Refund \$130\.00/)
    .first()
    .waitFor();
  await direct.waitFor({ state: 'detached' });
});

test('the copy of a card in the direct messages approves the same request and links to its thread', async () => {
  const words = 'Please refund 131 dollars of order A-1001.';
  await remi.ask(words);
  await remi.openThread(words);
  await alice.conversationLink(/Countersign/).click();
  const copies = alice.messages.getByRole('listitem');
  await alice.click(copies.filter({ hasText: '$131.00' }), 'Approve');
  await remi.threadMessage('✅ Refunded').waitFor();
  await copies
    .filter({ hasText: '$131.00' })
    .filter({ hasText: '✅ Refunded' })
    .getByRole('link', { name: 'Open the thread' })
    .click();
  await alice.openThread(words);
  await alice.waitForText(/Refunded \$131\.00 of order A-1001\./);
});

test('a guest who clicks Approve gets the reason, and nothing is approved', async () => {
  const words = 'Please refund 132 dollars of order A-1001.';
  await remi.ask(words);
  await remi.openThread(words);
  const gil = await playground.openAs('gil');
  await gil.openThread(words);
  await gil.click(gil.pendingCard('Refund'), 'Approve');
  await gil.waitForNotice("Guests can't decide this.");
  await gil.pendingCard('Refund').getByText('Needs 1 approval').waitFor();
  expect(await remi.page.getByText('Only visible to you').count()).toBe(0);
  await gil.click(gil.notice(/Guests/), 'Dismiss message');
  await gil.notice(/Guests/).waitFor({ state: 'detached' });
});

test('a person of another company cannot approve', async () => {
  const words = 'Please refund 133 dollars of order A-1001.';
  await remi.conversationLink(/partners/).click();
  await remi.ask(words);
  const olga = await playground.openAs('olga', { path: `/olga/${CHANNELS.partners}` });
  await olga.openThread(words);
  await olga.click(olga.pendingCard('Refund'), 'Approve');
  await olga.waitForNotice('Only members of this workspace can decide this.');
});

test('an approver cannot approve their own request, but can withdraw it', async () => {
  const words = 'Please refund 134 dollars of order A-1001.';
  await alice.ask(words);
  await alice.openThread(words);
  await alice.click(alice.pendingCard('Refund'), 'Approve');
  await alice.waitForNotice('You took part in requesting this, so someone else has to approve it.');
  await alice.choose(alice.pendingCard('Refund'), 'Withdraw');
  await alice.threadMessage('🚫 Refund').waitFor();
});

test('Home lists pending requests and opens their details', async () => {
  const words = 'Please delete the customer Ines Marr.';
  await remi.ask(words);
  await remi.openThread(words);
  await remi.pendingCard('Delete customer').waitFor();
  await alice.conversationLink(/Countersign/).click();
  await alice.page.getByRole('link', { name: 'Home' }).click();
  const home = alice.page.getByRole('region', { name: 'Home' });
  await home.getByRole('heading', { name: 'Waiting for you' }).waitFor();
  await home
    .getByRole('button', { name: /Review Delete customer/ })
    .first()
    .click();
  await alice.dialog.getByText('customer: "Ines Marr"').waitFor();
  await alice.page.keyboard.press('Escape');
  await alice.dialog.waitFor({ state: 'detached' });
});

test('the prompts of the manifest are offered in the direct messages, and sent with a click', async () => {
  const ada = await playground.openAs('ada');
  await ada.conversationLink(/Countersign/).click();
  await ada.page.getByRole('link', { name: 'Messages' }).click();
  const prompts = ada.page.getByRole('region', { name: 'Suggested prompts' });
  await prompts.getByRole('button', { name: 'Look up an order' }).click();
  await ada.openThread('Please look up an order for me.');
  await ada.threadMessage('Which order was it?').waitFor();
});

test('the slash command answers only its author', async () => {
  const field = alice.page.getByRole('textbox', { name: /^Message/ });
  await field.fill('/countersign decided');
  await field.press('Enter');
  await alice.waitForNotice('Recent');
  expect(await remi.page.getByText('Recent').count()).toBe(0);
});

test('the reply of the model is streamed', async () => {
  await remi.page.evaluate(`
    globalThis.lengthsSeen = new Set();
    new MutationObserver(() => {
      const growing = document.querySelector('[role=log] [aria-busy=true]');
      if (growing !== null) lengthsSeen.add(growing.textContent.length);
    }).observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
  `);
  await remi.ask('What can you do?');
  const asked = remi.messages.getByRole('listitem').filter({ hasText: 'What can you do?' });
  await asked.hover();
  await remi.click(asked, 'Reply in thread');
  await remi.waitForText(/OPENAI_API_KEY/);
  expect(await remi.page.evaluate<number>('lengthsSeen.size')).toBeGreaterThan(1);
});

test('the address of a message, copied from its toolbar, opens it in its thread', async () => {
  const words = 'Please look up order A-1003.';
  await remi.ask(words);
  await remi.openThread(words);
  const answer = remi.threadMessage(/Order A-1003: Office chair/);
  await answer.hover();
  await remi.click(answer, 'Copy link');
  await remi.page.getByText('Link copied.').waitFor();
  for (const line of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'])
    await remi.reply(`${line}\nThis line makes the thread longer than the window.\n.\n.`);
  await remi.waitForText(/^ten/);
  const link = new URL(await remi.page.evaluate<string>('navigator.clipboard.readText()'));
  await alice.page.goto(link.pathname + link.search);
  const linked = alice.threadMessage(/Order A-1003: Office chair/);
  await linked.waitFor();
  await expect.poll(() => alice.isInView(linked)).toBe(true);
  expect(await alice.isInView(alice.threadMessage(/^.*ten/))).toBe(false);
});

test('a person can request and approve with the keyboard alone', async () => {
  const words = 'Please refund 101 dollars of order A-1003.';
  await remi.tabTo(remi.page.getByRole('textbox', { name: /^Message/ }));
  await remi.mentionBot();
  await remi.page.keyboard.type(words);
  await remi.page.keyboard.press('Enter');

  const replies = alice.messages
    .getByRole('listitem')
    .filter({ hasText: words })
    .getByRole('link', { name: /repl(y|ies)/ });
  await replies.waitFor();
  await alice.tabTo(replies);
  await alice.page.keyboard.press('Enter');
  const approve = alice.pendingCard('Refund').getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await alice.tabTo(approve);
  await alice.page.keyboard.press('Enter');
  await alice.waitForText(/Refunded \$101\.00 of order A-1003\./);
});

test('a dialog takes the focus, returns it after Escape, and works with the keyboard', async () => {
  const words = 'Please refund 102 dollars of order A-1003.';
  await remi.ask(words);
  await alice.openThread(words);
  const reject = alice.pendingCard('Refund').getByRole('button', { name: 'Reject' });
  await reject.focus();
  await alice.page.keyboard.press('Enter');
  await alice.dialog.waitFor();
  await alice.page.keyboard.press('Escape');
  await alice.dialog.waitFor({ state: 'detached' });
  await expect.poll(() => alice.hasFocus(reject)).toBe(true);

  await alice.page.keyboard.press('Enter');
  await alice.dialog.waitFor();
  await alice.tabTo(alice.dialog.getByLabel(/^Why\?/));
  await alice.page.keyboard.type('Not twice.');
  await alice.tabTo(alice.dialog.getByRole('button', { name: 'Reject' }));
  await alice.page.keyboard.press('Enter');
  await alice.waitForText(/was rejected, so it didn't run\. Reason: “Not twice\.”/);
});
