import { expect, test } from 'vitest';
import { checkBlocks } from '../../../playground/slack/block-kit/check-blocks.ts';
import { checkView } from '../../../playground/slack/block-kit/check-view.ts';
import { LIMITS } from '../../../playground/slack/limits.ts';
import type { JsonObject } from '../../../playground/slack/state/types.ts';
import { buttonBlock, modal, section } from './support.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const letters = (count: number) => 'x'.repeat(count);
const actions = (...elements: JsonObject[]) => ({ type: 'actions', elements });
const button = (changes: JsonObject = {}) => ({
  type: 'button',
  action_id: 'go',
  text: plain('Go'),
  ...changes,
});
const option = (changes: JsonObject = {}) => ({ text: plain('One'), value: 'one', ...changes });
const select = (options: unknown) => ({ type: 'static_select', action_id: 'pick', options });
const input = (changes: JsonObject = {}) => ({
  type: 'input',
  label: plain('Name'),
  element: { type: 'plain_text_input' },
  ...changes,
});
const confirm = (changes: JsonObject = {}) => ({
  title: plain('Sure?'),
  text: plain('Really?'),
  confirm: plain('Yes'),
  deny: plain('No'),
  ...changes,
});
const richText = (...elements: JsonObject[]) => ({ type: 'rich_text', elements });
const richSection = (...elements: JsonObject[]) => ({ type: 'rich_text_section', elements });

/** Values at the edge of each limit and one past it. */
const edges: [name: string, limit: number, make: (size: number) => JsonObject[]][] = [
  ['blocks of a message', LIMITS.messageBlocks, (size) => times(size, () => ({ type: 'divider' }))],
  ['section text', LIMITS.text, (size) => [section(letters(size))]],
  ['header text', LIMITS.header, (size) => [{ type: 'header', text: plain(letters(size)) }]],
  ['markdown text', LIMITS.markdown, (size) => [{ type: 'markdown', text: letters(size) }]],
  [
    'section fields',
    LIMITS.sectionFields,
    (size) => [{ type: 'section', fields: times(size, () => plain('a')) }],
  ],
  ['a section field', LIMITS.sectionField, (size) => [{ type: 'section', fields: [plain(letters(size))] }]],
  [
    'actions',
    LIMITS.actionsElements,
    (size) => [actions(...times(size, (index) => button({ action_id: `${index}` })))],
  ],
  ['button text', LIMITS.buttonText, (size) => [actions(button({ text: plain(letters(size)) }))]],
  ['button value', LIMITS.buttonValue, (size) => [actions(button({ value: letters(size) }))]],
  ['button url', LIMITS.buttonUrl, (size) => [actions(button({ url: letters(size) }))]],
  ['action_id', LIMITS.actionId, (size) => [actions(button({ action_id: letters(size) }))]],
  ['block_id', LIMITS.blockId, (size) => [{ type: 'divider', block_id: letters(size) }]],
  ['select options', LIMITS.selectOptions, (size) => [actions(select(times(size, () => option())))]],
  ['option text', LIMITS.optionText, (size) => [actions(select([option({ text: plain(letters(size)) })]))]],
  ['option value', LIMITS.optionValue, (size) => [actions(select([option({ value: letters(size) })]))]],
  [
    'option description',
    LIMITS.optionDescription,
    (size) => [actions(select([option({ description: plain(letters(size)) })]))],
  ],
  [
    'overflow',
    LIMITS.overflowOptions,
    (size) => [actions({ type: 'overflow', options: times(size, () => option()) })],
  ],
  [
    'checkboxes',
    LIMITS.choiceOptions,
    (size) => [actions({ type: 'checkboxes', options: times(size, () => option()) })],
  ],
  [
    'confirm title',
    LIMITS.confirmTitle,
    (size) => [actions(button({ confirm: confirm({ title: plain(letters(size)) }) }))],
  ],
  [
    'confirm text',
    LIMITS.confirmText,
    (size) => [actions(button({ confirm: confirm({ text: plain(letters(size)) }) }))],
  ],
  [
    'confirm button',
    LIMITS.confirmButton,
    (size) => [actions(button({ confirm: confirm({ deny: plain(letters(size)) }) }))],
  ],
  [
    'context',
    LIMITS.contextElements,
    (size) => [{ type: 'context', elements: times(size, () => plain('a')) }],
  ],
  ['input label', LIMITS.inputLabel, (size) => [input({ label: plain(letters(size)) })]],
  [
    'placeholder',
    LIMITS.placeholder,
    (size) => [input({ element: { type: 'plain_text_input', placeholder: plain(letters(size)) } })],
  ],
  [
    'table rows',
    LIMITS.tableRows,
    (size) => [{ type: 'table', rows: times(size, () => [{ type: 'raw_text', text: 'a' }]) }],
  ],
];

test.each(edges)('%s: %i is accepted and one more is not', (_name, limit, make) => {
  expect(checkBlocks(make(limit))).toEqual([]);
  expect(checkBlocks(make(limit + 1))).not.toEqual([]);
});

test.each<[refused: string, blocks: unknown, problem: { pointer: string; reason: string }]>([
  ['an unknown block', [{ type: 'banner' }], { pointer: '/blocks/0', reason: 'unsupported type' }],
  [
    'an unknown element',
    [actions({ type: 'slider' })],
    { pointer: '/blocks/0/elements/0', reason: 'unsupported type' },
  ],
  [
    'an unknown property',
    [actions(button({ color: 'red' }))],
    { pointer: '/blocks/0/elements/0', reason: 'invalid additional property: color' },
  ],
  [
    'a missing field',
    [actions({ type: 'button', action_id: 'go' })],
    { pointer: '/blocks/0/elements/0', reason: 'missing required field: text' },
  ],
  [
    'an empty text',
    [section('')],
    { pointer: '/blocks/0/text/text', reason: 'must be more than 0 characters' },
  ],
  [
    'an empty text in rich text',
    [richText(richSection({ type: 'user', user_id: 'U0ALICE002' }, { type: 'text', text: '' }))],
    { pointer: '/blocks/0/elements/0/elements/1/text', reason: 'must be more than 0 characters' },
  ],
  [
    'a link with an empty text',
    [richText(richSection({ type: 'link', url: 'https://example.com', text: '' }))],
    { pointer: '/blocks/0/elements/0/elements/0/text', reason: 'must be more than 0 characters' },
  ],
  [
    'a section that says nothing',
    [{ type: 'section' }],
    { pointer: '/blocks/0', reason: 'must have one of text and fields' },
  ],
  [
    'mrkdwn on a button',
    [actions(button({ text: { type: 'mrkdwn', text: 'Go' } }))],
    { pointer: '/blocks/0/elements/0/text/type', reason: 'invalid value' },
  ],
  [
    'a repeated block_id',
    [
      { type: 'divider', block_id: 'a' },
      { type: 'divider', block_id: 'a' },
    ],
    { pointer: '/blocks/1/block_id', reason: '`block_id` a already exists' },
  ],
  [
    'a repeated action_id in one block',
    [actions(button(), button())],
    { pointer: '/blocks/0/elements/1/action_id', reason: '`action_id` go already exists' },
  ],
  [
    'an input among actions',
    [actions({ type: 'plain_text_input' })],
    { pointer: '/blocks/0/elements/0', reason: 'unsupported type' },
  ],
  [
    'a mention in preformatted text',
    [richText({ type: 'rich_text_preformatted', elements: [{ type: 'user', user_id: 'U0ALICE002' }] })],
    { pointer: '/blocks/0/elements/0/elements/0', reason: 'unsupported type' },
  ],
  [
    'something that is no list',
    'blocks',
    { pointer: '/blocks', reason: 'must provide a value of type array' },
  ],
])('refuses %s and says where', (_name, blocks, problem) => {
  expect(checkBlocks(blocks)).toContainEqual(problem);
});

test('two blocks may have the same action_id', () => {
  expect(checkBlocks([buttonBlock('go', 'a', 'one'), buttonBlock('go', 'b', 'two')])).toEqual([]);
});

test('accepts rich text with every inline element, lists, quotes and preformatted text', () => {
  const line = richSection(
    { type: 'text', text: 'hi', style: { bold: true, code: true } },
    { type: 'user', user_id: 'U0ALICE002' },
    { type: 'usergroup', usergroup_id: 'S0APPROVE1' },
    { type: 'channel', channel_id: 'C0GENERAL1' },
    { type: 'link', url: 'https://example.com', text: 'there' },
    { type: 'emoji', name: 'wave' },
    { type: 'broadcast', range: 'here' },
    { type: 'date', timestamp: 1_700_000_000, format: '{date}' },
    { type: 'color', value: '#ff0000' },
  );
  const code = { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'a = 1' }], border: 0 };
  const quote = { type: 'rich_text_quote', elements: [{ type: 'text', text: 'said' }] };
  const list = { type: 'rich_text_list', style: 'bullet', indent: 1, elements: [line] };
  expect(checkBlocks([richText(line, code, quote, list)])).toEqual([]);
});

test('markdown blocks share one limit', () => {
  const half = { type: 'markdown', text: letters(LIMITS.markdown / 2) };
  expect(checkBlocks([half, half])).toEqual([]);
  expect(checkBlocks([half, half, { type: 'markdown', text: 'x' }])).not.toEqual([]);
});

test('a modal takes a hundred blocks, but none that are for messages only', () => {
  const dividers = times(LIMITS.viewBlocks, () => ({ type: 'divider' }));
  expect(checkBlocks(dividers, 'modal')).toEqual([]);
  expect(checkBlocks([...dividers, { type: 'divider' }], 'modal')).toContainEqual({
    pointer: '/blocks',
    reason: 'no more than 100 items allowed',
  });
  expect(checkBlocks([{ type: 'markdown', text: 'hi' }], 'modal')).toContainEqual({
    pointer: '/blocks/0',
    reason: 'unsupported type: markdown',
  });
});

test.each<[string, JsonObject]>([
  ['title', { title: plain(letters(LIMITS.viewTitle + 1)) }],
  ['submit', { submit: plain(letters(LIMITS.viewButton + 1)) }],
  ['close', { close: plain(letters(LIMITS.viewButton + 1)) }],
  ['private_metadata', { private_metadata: letters(LIMITS.privateMetadata + 1) }],
  ['callback_id', { callback_id: letters(LIMITS.callbackId + 1) }],
])('a modal with too long a %s is refused', (field, changes) => {
  expect(checkView(modal(), 'modal')).toMatchObject({ ok: true });
  const checked = checkView(modal(changes), 'modal');
  expect(checked).toMatchObject({ ok: false });
  expect(JSON.stringify(checked)).toContain(`/view/${field}`);
});

test('a modal with an input needs a submit button', () => {
  const { submit: _submit, ...without } = modal();
  expect(checkView(without, 'modal')).toEqual({
    ok: false,
    problems: [{ pointer: '/view', reason: 'missing required field: submit' }],
  });
});
