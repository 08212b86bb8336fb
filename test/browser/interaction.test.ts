import { beforeAll, expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { PHONE, startFixture } from './fixture.ts';

const playground = startFixture();
const LOW_WINDOW = { viewport: { width: 1440, height: 640 } };
let remi: PersonPage;
let alice: PersonPage;

beforeAll(async () => {
  [remi, alice] = await Promise.all([playground.openAs('remi'), playground.openAs('alice', LOW_WINDOW)]);
});

/** Sends a request as Remi and opens its thread as Alice. */
async function request(words: string): Promise<void> {
  await remi.ask(words);
  await alice.conversationLink(/general/).click();
  await alice.openThread(words);
}

test('a phone leads from act to act without opening the tour', async () => {
  const phone = await playground.openAs('alice', { path: `/alice/${CHANNELS.general}`, ...PHONE });
  const foot = phone.page.getByRole('region', { name: 'Current act' });
  await phone.click(foot, 'Next: Say yes');
  await phone.click(phone.pendingCard('Refund'), 'Approve');
  await foot.getByText('✓ Say yes').waitFor();
  await foot.getByText(/#\d+ Done/).waitFor();
  await phone.click(foot, 'Next: Say no');
  await phone.waitForText(/it wobbles too/);
  await phone.pendingCard('Refund').waitFor();
});

test('the bare address opens as an approver', async () => {
  const visitor = await playground.openAs('alice', { path: '/' });
  await visitor.tour.getByRole('button', { name: 'Say no' }).waitFor();
  await visitor.page.getByRole('button', { name: /^You are Alice/ }).waitFor();
});

test('a link skips to the thread, from where few Tabs lead to Approve', async () => {
  await request('Please refund 139 dollars of order A-1001.');
  await alice.pendingCard('Refund').waitFor();
  await alice.page.evaluate('document.activeElement.blur()');
  await alice.page.goto(alice.page.url());
  await alice.tabTo(alice.page.getByRole('link', { name: 'Skip to the thread' }));
  await alice.page.keyboard.press('Enter');
  expect(await alice.hasFocus(alice.thread)).toBe(true);
  const approve = alice.pendingCard('Refund').getByRole('button', { name: 'Approve' });
  expect(await alice.tabTo(approve)).toBeLessThan(12);
});

test('no two people have the same initials, and each has a role in small type', async () => {
  await alice.page.getByRole('button', { name: /^You are/ }).click();
  const people = alice.page.locator('.people-list li');
  await people.first().waitFor();
  const initials = await people.locator('.avatar').allTextContents();
  expect(initials).toHaveLength(6);
  expect(new Set(initials).size).toBe(6);
  expect(await people.locator('.role-badge, .person-title').allTextContents()).toEqual([
    'Support',
    'Approver',
    'Approver',
    'Admin',
    'Guest',
    'Other company',
  ]);
  await alice.page.keyboard.press('Escape');
});

test('a hidden toolbar lets clicks through to the message above', async () => {
  const words = 'Please refund 138 dollars of order A-1001.';
  await request(words);
  const menu = alice.pendingCard('Refund').getByRole('button', { name: 'More actions' });
  await menu.waitFor();
  await alice.reply('I look into it.');
  await alice.threadMessage('I look into it.').waitFor();
  await menu.click();
  await alice.pendingCard('Refund').getByRole('menuitem', { name: 'Details' }).waitFor();
  await alice.page.keyboard.press('Escape');
});

test('after an approval the result is in view and the focus stays in the thread', async () => {
  await request('Please refund 140 dollars of order A-1001.');
  await alice.pendingCard('Refund').getByRole('button', { name: 'Approve' }).focus();
  await alice.page.keyboard.press('Enter');
  const result = alice.threadMessage(/Refunded \$140\.00/);
  await result.waitFor();
  await expect.poll(() => alice.isInView(result)).toBe(true);
  expect(await alice.thread.getByRole('button', { name: /messages/ }).count()).toBe(0);
  expect(await alice.thread.locator(':focus').count()).toBe(1);
});

test('a first of two approvals leaves the card in view and the focus in the thread', async () => {
  await request('Please delete the customer Hooper Ltd.');
  await alice.approveTyped(alice.pendingCard('Delete customer'), 'Hooper Ltd');
  await alice.pendingCard('Delete customer').getByText('1 of 2').waitFor();
  const approve = alice.pendingCard('Delete customer').getByRole('button', { name: 'Approve' });
  await expect.poll(() => alice.isInView(approve)).toBe(true);
  expect(await alice.thread.locator(':focus').count()).toBe(1);
});

test('after an edit the focus is on the message of the card', async () => {
  await request('Please refund 141 dollars of order A-1001.');
  await alice.choose(alice.pendingCard('Refund'), 'Edit');
  await alice.dialog.getByLabel(/amount/i).fill('142');
  await alice.click(alice.dialog, 'Submit');
  await alice.pendingCard('Refund').getByRole('heading', { name: '$142.00' }).waitFor();
  await expect.poll(() => alice.thread.locator(':focus').count()).toBe(1);
});

test('a clicked button is busy until the app responds, and for two seconds at most', async () => {
  await request('Please refund 143 dollars of order A-1001.');
  const approve = alice.pendingCard('Refund').getByRole('button', { name: 'Approve' });
  await alice.page.route('**/click', (route) => route.fulfill({ json: { ok: true } }));
  const answered = alice.page.waitForResponse('**/click');
  await approve.click();
  await answered;
  expect(await approve.getAttribute('aria-busy')).toBe('true');
  await expect.poll(() => approve.getAttribute('aria-busy')).toBe(null);
  await alice.page.unroute('**/click');
});

test('the toolbar of a message does not cover its title', async () => {
  await request('Please refund 144 dollars of order A-1001.');
  const card = alice.pendingCard('Refund');
  await card.getByRole('heading').hover();
  const title = await card.getByRole('heading').boundingBox();
  const toolbar = await card.getByRole('toolbar').boundingBox();
  if (title === null || toolbar === null) throw new Error('The card has no title or no toolbar.');
  expect(toolbar.y + toolbar.height).toBeLessThanOrEqual(title.y);
});
