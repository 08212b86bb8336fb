import { expect, test } from 'vitest';
import { findViolations } from './check-accessibility.ts';
import { findUnreachable } from './check-keyboard.ts';
import { PHONE, startFixture } from './fixture.ts';

const playground = startFixture({ withOpening: true });
const OPENING = /^An AI agent wants to pay \$120 to Hooper Ltd\. It can't, unless you say yes\./;

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the first screen of a desktop has the sentence and the card, and no axe violation, ${colorScheme}`, async () => {
    const visitor = await playground.openAs('alice', { path: '/', colorScheme });
    await visitor.tour.getByRole('heading', { name: OPENING }).waitFor();
    const card = visitor.pendingCard('Refund $120.00');
    await card.getByRole('button', { name: 'Approve' }).waitFor();
    expect(await visitor.isInView(card.getByRole('heading'))).toBe(true);
    expect(await findViolations(visitor.page)).toEqual([]);
    expect(await findUnreachable(visitor.page)).toEqual([]);
  });

  test(`the first screen of a phone is the card with the sentence below it, without an axe violation, ${colorScheme}`, async () => {
    const visitor = await playground.openAs('alice', { path: '/', ...PHONE, colorScheme });
    await visitor.pendingCard('Refund $120.00').getByRole('button', { name: 'Approve' }).waitFor();
    await visitor.page
      .getByRole('region', { name: 'Current act' })
      .getByText(/unless you say yes/)
      .waitFor();
    expect(await visitor.page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      360,
    );
    expect(await findViolations(visitor.page)).toEqual([]);
  });
}

test('the click on Approve shows its row of the record beside the card, and Send again is not the main button', async () => {
  const visitor = await playground.openAs('alice', { path: '/' });
  const again = visitor.tour.getByRole('button', { name: 'Send again as Remi' });
  await again.waitFor();
  expect(await again.getAttribute('class')).not.toContain('main');
  await visitor.click(visitor.pendingCard('Refund'), 'Approve');
  await visitor.tour.getByText(/Alice Moreau approved \(1 of 1\)/).waitFor();
  await visitor.threadMessage('✅ Refunded').waitFor();
  await visitor.tour.getByRole('button', { name: 'Say yes Done' }).waitFor();
});
