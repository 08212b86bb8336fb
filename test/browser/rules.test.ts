import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Visitor } from '../../playground/chromium/visitor.ts';
import { PLACES } from '../../playground/slack/default-cast.ts';
import { setStage } from './stage.ts';

const stage = setStage();
let remi: Visitor;
let alice: Visitor;

beforeAll(async () => {
  [remi, alice] = await Promise.all([stage.visit('remi'), stage.visit('alice')]);
});
beforeEach(async () => {
  for (const who of [remi, alice]) await who.place(/general/).click();
});

test('what is new for somebody is marked until they have read it', async () => {
  const words = 'Please refund 130 dollars of order A-1001.';
  await alice.place(/releases/).click();
  await remi.ask(words);
  await alice.place(/general.*unread/).waitFor();
  const direct = alice.place(/Countersign.*unread.*for you/);
  await direct.waitFor();
  expect(await alice.page.title()).toMatch(/^\(?\d/);

  await alice.place(/general/).click();
  await alice.openThread(words);
  await alice.place(/general.*unread/).waitFor({ state: 'detached' });
  await direct.click();
  await alice.messages.getByText('Approval needed: refund_order').waitFor();
  await direct.waitFor({ state: 'detached' });
});

test('the copy of a card in the direct messages signs the same request, and leads to its thread', async () => {
  const words = 'Please refund 131 dollars of order A-1001.';
  await remi.ask(words);
  await remi.openThread(words);
  await alice.place(/Countersign/).click();
  const copies = alice.messages.getByRole('listitem');
  await alice.click(copies.filter({ hasText: '13100' }), 'Approve');
  await remi.inThread('refund_order: succeeded').waitFor();
  await copies
    .filter({ hasText: '13100' })
    .filter({ hasText: 'refund_order: succeeded' })
    .getByRole('link', { name: 'Open the thread' })
    .click();
  await alice.openThread(words);
  await alice.reads(/Refunded \$131\.00 of order A-1001\./);
});

test('a guest who clicks Approve is told why not, and nothing is signed', async () => {
  const words = 'Please refund 132 dollars of order A-1001.';
  await remi.ask(words);
  await remi.openThread(words);
  const gil = await stage.visit('gil');
  await gil.openThread(words);
  await gil.click(gil.pendingCard('refund_order'), 'Approve');
  await gil.isTold('Guests cannot decide this.');
  await gil.pendingCard('refund_order').getByText('0 of 1 signed').waitFor();
  expect(await remi.page.getByText('Only visible to you').count()).toBe(0);
  await gil.click(gil.notice(/Guests/), 'Dismiss message');
  await gil.notice(/Guests/).waitFor({ state: 'detached' });
});

test('someone of another company may not sign', async () => {
  const words = 'Please refund 133 dollars of order A-1001.';
  await remi.place(/partners/).click();
  await remi.ask(words);
  const olga = await stage.visit('olga', { path: `/olga/${PLACES.partners}` });
  await olga.openThread(words);
  await olga.click(olga.pendingCard('refund_order'), 'Approve');
  await olga.isTold('Only people of this workspace can decide this.');
});

test('an approver does not sign what they asked for themselves, but may withdraw it', async () => {
  const words = 'Please refund 134 dollars of order A-1001.';
  await alice.ask(words);
  await alice.openThread(words);
  await alice.click(alice.pendingCard('refund_order'), 'Approve');
  await alice.isTold('You asked for this, so somebody else has to sign it.');
  await alice.click(alice.pendingCard('refund_order'), 'Withdraw');
  await alice.inThread('refund_order: withdrawn').waitFor();
});

test('Home lists what waits, and looking at it opens the whole request', async () => {
  const words = 'Please delete the customer Ines Marr.';
  await remi.ask(words);
  await remi.openThread(words);
  await remi.pendingCard('delete_customer').waitFor();
  await alice.place(/Countersign/).click();
  await alice.page.getByRole('link', { name: 'Home' }).click();
  const home = alice.page.getByRole('region', { name: 'Home' });
  await home.getByRole('heading', { name: 'Waiting for me' }).waitFor();
  await home.getByRole('button', { name: 'Look at delete_customer' }).first().click();
  await alice.dialog.getByText('customer: "Ines Marr"').waitFor();
  await alice.page.keyboard.press('Escape');
  await alice.dialog.waitFor({ state: 'detached' });
});

test('what the manifest suggests to say is offered in the messages with the bot, and said with a click', async () => {
  const ada = await stage.visit('ada');
  await ada.place(/Countersign/).click();
  await ada.page.getByRole('link', { name: 'Messages' }).click();
  const prompts = ada.page.getByRole('region', { name: 'Suggested prompts' });
  await prompts.getByRole('button', { name: 'Look up an order' }).click();
  await ada.openThread('Please look up an order for me.');
  await ada.inThread('Which order was it?').waitFor();
});

test('the slash command answers only the one who gave it', async () => {
  const field = alice.page.getByRole('textbox', { name: /^Message/ });
  await field.fill('/countersign decided');
  await field.press('Enter');
  await alice.isTold('Decided lately');
  expect(await remi.page.getByText('Decided lately').count()).toBe(0);
});

test('the answer of the model appears bit by bit', async () => {
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
  await remi.reads(/OPENAI_API_KEY/);
  expect(await remi.page.evaluate<number>('lengthsSeen.size')).toBeGreaterThan(1);
});

test('the address of a message, copied from its toolbar, opens it in its thread', async () => {
  const words = 'Please look up order A-1003.';
  await remi.ask(words);
  await remi.openThread(words);
  const answer = remi.inThread(/Order A-1003: Office chair/);
  await answer.hover();
  await remi.click(answer, 'Copy link');
  await remi.page.getByText('The link is copied.').waitFor();
  for (const line of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'])
    await remi.reply(`${line}\nThis line makes the thread longer than the window.\n.\n.`);
  await remi.reads(/^ten/);
  const link = new URL(await remi.page.evaluate<string>('navigator.clipboard.readText()'));
  await alice.page.goto(link.pathname + link.search);
  const linked = alice.inThread(/Order A-1003: Office chair/);
  await linked.waitFor();
  await expect.poll(() => alice.sees(linked)).toBe(true);
  expect(await alice.sees(alice.inThread(/^.*ten/))).toBe(false);
});

test('one can ask and approve with the keyboard alone', async () => {
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
  const approve = alice.pendingCard('refund_order').getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await alice.tabTo(approve);
  await alice.page.keyboard.press('Enter');
  await alice.reads(/Refunded \$101\.00 of order A-1003\./);
});

test('a dialog takes the focus, gives it back at Escape, and is filled in and sent with the keyboard', async () => {
  const words = 'Please refund 102 dollars of order A-1003.';
  await remi.ask(words);
  await alice.openThread(words);
  const reject = alice.pendingCard('refund_order').getByRole('button', { name: 'Reject' });
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
  await alice.reads(/was rejected, so it did not run\. The reason given: “Not twice\.”/);
});
