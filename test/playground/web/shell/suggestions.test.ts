import { describe, expect, test } from 'vitest';
import { findTrigger, suggest } from '../../../../playground/web/src/composer/suggestions.ts';
import { ENTITIES, GENERAL } from './entities.ts';

function suggested(text: string): readonly string[] {
  const trigger = findTrigger(text, text.length);
  return trigger === undefined
    ? []
    : suggest(ENTITIES, GENERAL, trigger).map((suggestion) => suggestion.text);
}

describe('the name that is being typed', () => {
  test('it is the one just before the caret', () => {
    expect(findTrigger('hello @al and #ge', 9)).toEqual({ sign: '@', query: 'al', start: 6 });
  });

  test.each(['mail remi@al', 'no name', '@alice ', 'see /count'])('%j has none', (text) => {
    expect(findTrigger(text, text.length)).toBeUndefined();
  });
});

describe('the suggestions', () => {
  test('the app is first, then members of the channel', () => {
    expect(suggested('@').slice(0, 3)).toEqual(['@Countersign', '@Remi Requester', '@Alice Approver']);
  });

  test('any word of a name is enough', () => {
    expect(suggested('@appr')).toEqual(['@Alice Approver', '@approvers']);
  });

  test('channels after a hash, commands only at the beginning of a line', () => {
    expect(suggested('#talk')).toEqual(['#general-talk']);
    expect(suggested('/co')).toEqual(['/countersign']);
  });

  test('a name that is typed to its end is suggested no more, so that Enter sends', () => {
    expect(suggested('/countersign')).toEqual([]);
    expect(suggested('#general-talk')).toEqual([]);
  });
});
