import { expect, test } from 'vitest';
import { hasSigned, type ShownCard } from './world/cards.ts';

/** A line of a card as Slack shows it. */
function cardWith(...elements: readonly object[]): ShownCard {
  return { channel: 'C1', ts: '1', text: JSON.stringify([{ type: 'context', elements }]), buttons: [] };
}
const text = (words: string) => ({ type: 'text', text: words });
const user = (id: string) => ({ type: 'user', user_id: id });

test('people who are named as still needed have not signed', () => {
  const card = cardWith(text('✅ Approved by '), user('U1'), text(' · needs 1 more: '), user('U2'));
  expect([hasSigned(card, 'U1'), hasSigned(card, 'U2')]).toEqual([true, false]);
});

test('all who are named as approving have signed', () => {
  const card = cardWith(text(' · approved by '), user('U1'), text(' and '), user('U2'));
  expect([hasSigned(card, 'U1'), hasSigned(card, 'U2')]).toEqual([true, true]);
});
