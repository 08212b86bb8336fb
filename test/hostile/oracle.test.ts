import { describe, expect, test } from 'vitest';
import { buildCard } from '../../src/bot/views/cards/build-card.ts';
import { sanitizeMarkdown } from '../../src/bot/views/sanitize-markdown.ts';
import { detailsFor, recordOf } from '../bot/views/cards/records.ts';
import { TEXTS } from './corpus.ts';
import { wrongInPayload } from './oracle.ts';

const KNOWN = {
  ids: ['U0ASKER', 'U0ALICE', 'U0BRUNO', 'S0FINANCE'],
  links: /^https:\/\/example\.slack\.com\//,
};
const wrong = (payload: Readonly<Record<string, unknown>>) =>
  wrongInPayload({ channel: 'C1', text: 'A card', ...payload }, KNOWN);

/** Cards as somebody in a hurry would draw them, each naive in one respect. */
const naive = {
  markup: (text: string) => ({ blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] }),
  plain: (text: string) => ({
    blocks: [{ type: 'section', text: { type: 'plain_text', text, emoji: false } }],
  }),
  emoji: (text: string) => ({
    blocks: [{ type: 'section', text: { type: 'plain_text', text, emoji: true } }],
  }),
  line: (text: string) => ({
    blocks: [
      { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] },
    ],
  }),
  header: (text: string) => ({
    blocks: [{ type: 'header', text: { type: 'plain_text', text: `Do it: ${text}?`, emoji: false } }],
  }),
  quoted: (text: string) => ({
    blocks: [{ type: 'header', text: { type: 'plain_text', text: `Do it: "${text}"?`, emoji: false } }],
  }),
  joined: (text: string) => ({
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: `Do it: ${JSON.stringify(`${text} for Bob`)}?`, emoji: false },
      },
    ],
  }),
  long: (text: string) => ({
    blocks: [
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }],
      },
      { type: 'actions', elements: [{ type: 'button', action_id: 'approve' }] },
    ],
  }),
  notice: (text: string) => ({ text }),
  fallback: (text: string) => ({ text, blocks: [{ type: 'divider' }] }),
  reply: (text: string) => ({ text: undefined, markdown_text: text }),
  stream: (text: string) => ({ text: undefined, chunks: [{ type: 'markdown_text', text }] }),
  step: (text: string) => ({ text: undefined, chunks: [{ type: 'task_update', id: 'c1', title: text }] }),
  status: (text: string) => ({ text: undefined, status: text }),
  error: (text: string) => ({ text: undefined, errors: { reason: text } }),
  field: (text: string) => ({ blocks: [{ type: 'plain_text_input', initial_value: text }] }),
};

const HIDDEN = [
  'right-to-left override',
  'direction isolates',
  'zero-width characters',
  'tag characters',
  'variation selectors',
  'blank characters',
  'combining flood',
  'lone surrogates',
  'null byte',
  'control characters',
  'carriage return',
];
const PINGING = ['mention of a person', 'mention of everybody', 'mention of a group', 'link to a channel'];
const LINKING = ['masked link', 'bare link', 'Markdown link', 'Markdown reference', 'Markdown image', 'HTML'];
const caught: readonly [keyof typeof naive, readonly string[]][] = [
  ['markup', TEXTS.map(({ name }) => name)],
  ['plain', HIDDEN],
  ['emoji', TEXTS.map(({ name }) => name)],
  ['line', TEXTS.map(({ name }) => name)],
  ['header', TEXTS.map(({ name }) => name).filter((name) => name !== 'very long word')],
  [
    'quoted',
    [...HIDDEN, 'HTML', 'Markdown link', 'forged end of a value', 'forged end of a quote', 'forged notice'],
  ],
  ['joined', TEXTS.map(({ name }) => name)],
  ['long', [...HIDDEN, '200 newlines']],
  [
    'notice',
    [
      ...HIDDEN,
      ...PINGING,
      ...LINKING,
      'date that is a link',
      'formatting',
      'code fence',
      'emoji shortcodes',
    ],
  ],
  ['fallback', [...HIDDEN, ...PINGING, 'date that is a link']],
  ['reply', [...HIDDEN, ...PINGING.slice(0, 3), 'masked link', 'Markdown link']],
  ['stream', [...HIDDEN, ...PINGING.slice(0, 3), 'masked link', 'Markdown link']],
  ['step', HIDDEN],
  ['status', HIDDEN],
  ['error', HIDDEN],
  ['field', HIDDEN],
];

describe('the oracle catches what a naive renderer lets through', () => {
  test.each(caught)('%s', (kind, names) => {
    const passed = names.filter(
      (name) => wrong(naive[kind](TEXTS.find((item) => item.name === name)?.text ?? '')).length === 0,
    );
    expect(passed).toEqual([]);
  });

  test('mentions, links and pictures that are made and not typed', () => {
    for (const element of [
      { type: 'user', user_id: 'U0VICTIM01' },
      { type: 'usergroup', usergroup_id: 'S0VICTIM1' },
      { type: 'link', url: 'https://evil.example' },
      { type: 'emoji', name: 'tada' },
      { type: 'broadcast', range: 'channel' },
      { type: 'image', image_url: 'https://evil.example', alt_text: 'x' },
    ]) {
      expect(wrong({ blocks: [element] })).toHaveLength(1);
    }
  });
});

describe('the oracle has nothing against what is drawn with care', () => {
  test.each(TEXTS)('$name', ({ text }) => {
    const request = recordOf({ details: detailsFor({ text }, { facets: { why: text, description: text } }) });
    expect(wrong({ ...buildCard(request, { view: 'thread' }) })).toEqual([]);
    expect(wrong({ text: undefined, markdown_text: sanitizeMarkdown(text) })).toEqual([]);
  });
});
