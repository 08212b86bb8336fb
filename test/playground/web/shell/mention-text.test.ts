import { describe, expect, test } from 'vitest';
import { namesToTokens, tokensToNames } from '../../../../playground/web/src/composer/mention-text.ts';
import { ENTITIES } from './entities.ts';

describe('typed text for sending', () => {
  test.each([
    ['@Countersign refund it', '<@UBOT> refund it'],
    ['thanks, @Alice Approver!', 'thanks, <@U2>!'],
    ['(@alice)', '(<@U2>)'],
    ['@approvers and @here', '<!subteam^S1> and <!here>'],
    ['see #general-talk, not #general.', 'see <#C2>, not <#C1>.'],
  ])('%j names who and what is there', (typed, sent) => {
    expect(namesToTokens(ENTITIES, typed)).toBe(sent);
  });

  test.each(['mail remi@alice.example', '@alicent', '@nobody', '#generally', 'a@@alice', '<@alice>'])(
    '%j stays as it was typed',
    (typed) => {
      expect(namesToTokens(ENTITIES, typed)).toBe(typed);
    },
  );
});

describe('stored text for editing', () => {
  test('tokens become names again', () => {
    const typed = '@Countersign ask @Alice Approver, @approvers or @channel in #general';
    expect(tokensToNames(ENTITIES, namesToTokens(ENTITIES, typed))).toBe(typed);
  });

  test('escapes and links are shown as they were typed', () => {
    const kept = 'a &lt;b&gt; &amp;amp; <https://example.com> <mailto:a@b.example|a@b.example>';
    expect(tokensToNames(ENTITIES, kept)).toBe('a <b> &amp; https://example.com a@b.example');
  });

  test('an unknown person keeps their token', () => {
    expect(tokensToNames(ENTITIES, '<@U9> <#C9|>')).toBe('<@U9> <#C9|>');
  });
});
