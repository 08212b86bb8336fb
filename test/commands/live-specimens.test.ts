import { expect, test } from 'vitest';
import { checkBlocks } from '../../playground/slack/block-kit/check-blocks.ts';
import { checkView } from '../../playground/slack/block-kit/check-view.ts';
import { isObject } from '../../playground/slack/state/normalize-blocks.ts';
import { ASK_KINDS } from '../../src/bot/views/asks/ask-kinds.ts';
import { specimens } from '../../src/commands/live/specimens.ts';
import { RequestState } from '../../src/store/port/request-record.ts';

const all = specimens({ person: 'U0ALICE002', channel: 'C0GENERAL1' });
const names = all.map(({ name }) => name);

test('there is a specimen of a card of every kind and of every state, of every modal and of Home', () => {
  for (const { name } of ASK_KINDS)
    expect(
      names.some((each) => each.startsWith(`card of ${name}, `)),
      name,
    ).toBe(true);
  // Kinds that look alike in a state are asked about once.
  for (const state of RequestState.options)
    expect(
      names.some((each) => each.startsWith('card of ') && each.includes(`, ${state}, `)),
      state,
    ).toBe(true);
  expect(names.filter((name) => name.startsWith('modal '))).toHaveLength(12);
  expect(names.filter((name) => name.startsWith('Home'))).toEqual(['Home, empty', 'Home, full']);
});

test('the local Slack takes each, and each kind shows what it is about', () => {
  const refused = all.map(({ name, part, payload }) => {
    if (part === 'message')
      return { name, problems: checkBlocks(isObject(payload) ? payload.blocks : undefined) };
    const checked = checkView(payload, name.startsWith('Home') ? 'home' : 'modal');
    return { name, problems: checked.ok ? [] : checked.problems };
  });
  expect(refused.filter(({ problems }) => problems.length > 0)).toEqual([]);
  for (const { name, payload } of all) expect([name, JSON.stringify(payload)]).not.toContain('is unreadable');
});
