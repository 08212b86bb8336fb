import { expect, test } from 'vitest';
import { CAST } from '../../../../playground/slack/default-cast.ts';
import { chooseAsker } from '../../../../playground/web/src/people/choose-asker.ts';

const person = (id: string, title = '') => ({ id, title });

test('a manifest of one’s own begins as Remi, or as somebody else who is no approver', () => {
  const others = [person(CAST.alice, 'Approver'), person(CAST.guest)];
  expect(chooseAsker([...others, person(CAST.requester)])).toBe(CAST.requester);
  expect(chooseAsker([...others, person(CAST.requester, 'Approver')])).toBe(CAST.guest);
  expect(chooseAsker([person(CAST.alice, 'Approver')])).toBeUndefined();
});
