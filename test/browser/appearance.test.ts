import { beforeAll, expect, test } from 'vitest';
import type { PersonPage } from '../../playground/chromium/person-page.ts';
import { CHANNELS } from '../../playground/slack/default-cast.ts';
import { findViolations } from './check-accessibility.ts';
import { PHONE, startFixture } from './fixture.ts';

const REFUND = 'Please refund 120 dollars of order A-1001, the top is scratched.';

const playground = startFixture();
let threadPath: string;

beforeAll(async () => {
  const remi = await playground.openAs('remi');
  await remi.ask(REFUND);
  await remi.openThread(REFUND);
  await remi.pendingCard('Refund').waitFor();
  threadPath = new URL(remi.page.url()).pathname.replace('/remi/', '/alice/');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the main states have no axe violations, ${colorScheme}`, async () => {
    const alice = await playground.openAs('alice', { path: threadPath, colorScheme });
    const findings: string[] = [];
    const look = async (state: string) => {
      for (const finding of await findViolations(alice.page)) findings.push(`${state}: ${finding}`);
    };
    await alice.pendingCard('Refund').waitFor();
    await alice.tour.waitFor();
    await look('a pending card and the tour');

    await alice.page.getByRole('tab', { name: 'Record' }).click();
    await alice.record.getByText(/Audit chain/).waitFor();
    await look('the record');

    await alice.click(alice.pendingCard('Refund'), 'Reject');
    await alice.click(alice.dialog, 'Reject');
    await expect.poll(() => alice.dialog.getByLabel(/^Why\?/).getAttribute('aria-invalid')).toBe('true');
    await look('a modal with an error');
    await alice.page.keyboard.press('Escape');
    await alice.dialog.waitFor({ state: 'hidden' });

    await alice.choose(alice.pendingCard('Refund'), 'Edit');
    await alice.dialog.getByLabel(/amount/i).waitFor();
    await look('a form');
    await alice.page.keyboard.press('Escape');

    await alice.page.getByRole('button', { name: /^You are/ }).click();
    await look('the switch between people');
    await alice.page.keyboard.press('Escape');

    await alice.conversationLink(/Countersign/).click();
    await alice.messages.getByText('🟡').waitFor();
    await look('direct messages');
    await alice.page.getByRole('link', { name: 'Home' }).click();
    await alice.page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await look('Home');
    expect(findings).toEqual([]);
  });
}

test('a chosen theme applies immediately and survives a reload', async () => {
  const alice = await playground.openAs('alice', { colorScheme: 'light' });
  const background = () => alice.page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const toggle = alice.page.getByRole('button', { name: /^Theme/ });
  const light = await background();
  await toggle.click();
  await toggle.click();
  await alice.page.getByRole('button', { name: /^Theme: dark/ }).waitFor();
  const dark = await background();
  expect(dark).not.toBe(light);
  await alice.page.reload();
  await alice.page.getByRole('button', { name: /^Theme: dark/ }).waitFor();
  expect(await background()).toBe(dark);
});

test('on a phone a person can request, approve and navigate back, without horizontal scrolling', async () => {
  const remi = await playground.openAs('remi', PHONE);
  const words = 'Please refund 103 dollars of order A-1001.';
  await remi.ask(words);
  await remi.openThread(words);
  await remi.pendingCard('Refund').waitFor();
  await expectNoOverflow(remi);
  await remi.page.getByRole('button', { name: 'Back to the channel' }).click();
  await remi.page.getByRole('button', { name: 'Back to the channels and people' }).click();
  await expectNoOverflow(remi);

  await remi.page.getByRole('button', { name: /^You are/ }).click();
  await remi.page.getByRole('button', { name: /^Alice Moreau/ }).click();
  await remi.page.getByRole('button', { name: 'Back to the channels and people' }).click();
  await remi.conversationLink(/Countersign/).click();
  const copy = remi.messages.getByRole('listitem').filter({ hasText: '🟡' }).last();
  await copy.getByRole('heading', { name: /\$103\.00/ }).waitFor();
  await expectNoOverflow(remi);
  await remi.choose(copy, 'Edit');
  await remi.dialog.getByLabel(/amount/i).waitFor();
  await expectNoOverflow(remi);
  expect(await findViolations(remi.page)).toEqual([]);
  await remi.page.keyboard.press('Escape');
  await remi.click(copy, 'Approve');
  await remi.messages.getByText('✅ Refunded').waitFor();

  await remi.page.getByRole('button', { name: 'Tour' }).click();
  await remi.tour.getByText(/of 3 acts done/).waitFor();
  await expectNoOverflow(remi);
  expect(await findViolations(remi.page)).toEqual([]);
});

async function expectNoOverflow({ page }: PersonPage): Promise<void> {
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
}

test('an unknown or hidden conversation leads to a visible one', async () => {
  const gil = await playground.openAs('gil', { path: `/gil/${CHANNELS.releases}` });
  await gil.messages.waitFor();
  expect(new URL(gil.page.url()).pathname).toBe(`/gil/${CHANNELS.general}`);
});
