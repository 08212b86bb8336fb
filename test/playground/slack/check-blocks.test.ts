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

type Limit = keyof typeof LIMITS;
type Edge = readonly [limit: Limit, place: string, make: (size: number) => JsonObject[]];

const inInput = (element: JsonObject) => [input({ element })];
const textInput = (changes: JsonObject) => inInput({ type: 'plain_text_input', ...changes });
const image = (changes: JsonObject = {}) => ({
  ...{ type: 'image', alt_text: 'A desk', image_url: 'https://example.com/a.png' },
  ...changes,
});
const card = (changes: JsonObject = {}) => ({ type: 'card', title: mrkdwn('Card'), ...changes });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const container = (changes: JsonObject = {}) => ({
  ...{ type: 'container', title: plain('Box'), child_blocks: [{ type: 'divider' }] },
  ...changes,
});
const cell = (text = 'a') => ({ type: 'raw_text', text });
const table = (rows: unknown, changes: JsonObject = {}) => ({ type: 'table', rows, ...changes });
const dataTable = (rows: unknown, changes: JsonObject = {}) => ({
  ...{ type: 'data_table', caption: 'Orders', rows },
  ...changes,
});
const task = (changes: JsonObject = {}) => ({
  ...{ type: 'task_card', task_id: 't', title: 'Read', status: 'complete' },
  ...changes,
});
const feedback = (changes: JsonObject = {}) => ({
  ...{ type: 'feedback_buttons', action_id: 'f' },
  positive_button: { text: plain('Good'), value: 'good' },
  negative_button: { text: plain('Bad'), value: 'bad' },
  ...changes,
});
const contextActions = (...elements: JsonObject[]) => [{ type: 'context_actions', elements }];
const choices = (type: string) => (size: number) => [actions({ type, options: times(size, () => option()) })];
const confirmed = (changes: JsonObject) => [actions(button({ confirm: confirm(changes) }))];

/** Every limit of blocks, with blocks that are as large as the given size in this one place. */
const edges: readonly Edge[] = [
  ['messageBlocks', 'a message', (size) => times(size, () => ({ type: 'divider' }))],
  ['text', 'a section', (size) => [section(letters(size))]],
  ['text', 'a context', (size) => [{ type: 'context', elements: [mrkdwn(letters(size))] }]],
  ['text', 'an alert', (size) => [{ type: 'alert', text: plain(letters(size)) }]],
  ['header', 'a header', (size) => [{ type: 'header', text: plain(letters(size)) }]],
  ['markdown', 'a markdown block', (size) => [{ type: 'markdown', text: letters(size) }]],
  ['sectionFields', 'a section', (size) => [{ type: 'section', fields: times(size, () => plain('a')) }]],
  ['sectionField', 'a field', (size) => [{ type: 'section', fields: [plain(letters(size))] }]],
  [
    'actionsElements',
    'actions',
    (size) => [actions(...times(size, (index) => button({ action_id: `${index}` })))],
  ],
  ['contextElements', 'a context', (size) => [{ type: 'context', elements: times(size, () => plain('a')) }]],
  [
    'contextActionsElements',
    'context actions',
    (size) => contextActions(...times(size, (index) => feedback({ action_id: `${index}` }))),
  ],
  ['blockId', 'a divider', (size) => [{ type: 'divider', block_id: letters(size) }]],
  ['actionId', 'a button', (size) => [actions(button({ action_id: letters(size) }))]],
  ['actionId', 'an input', (size) => textInput({ action_id: letters(size) })],
  ['buttonText', 'a button', (size) => [actions(button({ text: plain(letters(size)) }))]],
  [
    'buttonText',
    'a feedback button',
    (size) => contextActions(feedback({ positive_button: { text: plain(letters(size)), value: 'v' } })),
  ],
  ['buttonValue', 'a button', (size) => [actions(button({ value: letters(size) }))]],
  ['buttonUrl', 'a button', (size) => [actions(button({ url: letters(size) }))]],
  ['accessibilityLabel', 'a button', (size) => [actions(button({ accessibility_label: letters(size) }))]],
  ['imageAlt', 'an image block', (size) => [image({ alt_text: letters(size) })]],
  [
    'imageAlt',
    'an accessory',
    (size) => [{ ...section('a'), accessory: image({ alt_text: letters(size) }) }],
  ],
  ['imageTitle', 'an image block', (size) => [image({ title: plain(letters(size)) })]],
  ['imageUrl', 'an image block', (size) => [image({ image_url: letters(size) })]],
  [
    'fileId',
    'an image block',
    (size) => [{ type: 'image', alt_text: 'A desk', slack_file: { id: letters(size) } }],
  ],
  ['inputLabel', 'an input', (size) => [input({ label: plain(letters(size)) })]],
  ['inputHint', 'an input', (size) => [input({ hint: plain(letters(size)) })]],
  ['inputText', 'the initial value', (size) => textInput({ initial_value: letters(size) })],
  ['inputText', 'min_length', (size) => textInput({ min_length: size })],
  ['inputText', 'max_length', (size) => textInput({ max_length: size })],
  ['inputLines', 'max_lines', (size) => inInput({ type: 'rich_text_input', max_lines: size })],
  ['placeholder', 'a text input', (size) => textInput({ placeholder: plain(letters(size)) })],
  [
    'placeholder',
    'a date picker',
    (size) => [actions({ type: 'datepicker', placeholder: plain(letters(size)) })],
  ],
  ['fileInputFiles', 'max_files', (size) => inInput({ type: 'file_input', max_files: size })],
  ['selectOptions', 'a select', choices('static_select')],
  ['selectOptions', 'a select of several', choices('multi_static_select')],
  [
    'selectOptions',
    'a group',
    (size) => [actions(grouped([{ label: plain('G'), options: times(size, () => option()) }]))],
  ],
  [
    'selectOptionGroups',
    'a select',
    (size) => [actions(grouped(times(size, () => ({ label: plain('G'), options: [option()] }))))],
  ],
  [
    'groupLabel',
    'a group',
    (size) => [actions(grouped([{ label: plain(letters(size)), options: [option()] }]))],
  ],
  ['choiceOptions', 'checkboxes', choices('checkboxes')],
  ['choiceOptions', 'radio buttons', choices('radio_buttons')],
  ['overflowOptions', 'an overflow menu', choices('overflow')],
  ['optionText', 'an option', (size) => [actions(select([option({ text: plain(letters(size)) })]))]],
  ['optionValue', 'an option', (size) => [actions(select([option({ value: letters(size) })]))]],
  [
    'optionDescription',
    'an option',
    (size) => [actions(select([option({ description: plain(letters(size)) })]))],
  ],
  [
    'optionUrl',
    'an option of an overflow menu',
    (size) => [actions({ type: 'overflow', options: [option({ url: letters(size) })] })],
  ],
  ['confirmTitle', 'a dialog', (size) => confirmed({ title: plain(letters(size)) })],
  ['confirmText', 'a dialog', (size) => confirmed({ text: plain(letters(size)) })],
  ['confirmButton', 'confirm', (size) => confirmed({ confirm: plain(letters(size)) })],
  ['confirmButton', 'deny', (size) => confirmed({ deny: plain(letters(size)) })],
  ['tableRows', 'a table', (size) => [table(times(size, () => [cell()]))]],
  ['tableColumns', 'a table', (size) => [table([times(size, () => cell())])]],
  [
    'tableColumns',
    'column_settings',
    (size) => [table([[cell()]], { column_settings: times(size, () => null) })],
  ],
  [
    'tableCharacters',
    'the cells of two tables',
    (size) => [table([[cell()]]), table([[cell(letters(size - 1))]])],
  ],
  ['dataTableRows', 'a data table', (size) => [dataTable(times(size, () => [cell()]))]],
  ['dataTablePage', 'page_size', (size) => [dataTable([[cell()], [cell()]], { page_size: size })]],
  ['cardHeading', 'a title', (size) => [card({ title: mrkdwn(letters(size)) })]],
  ['cardHeading', 'a subtitle', (size) => [card({ subtitle: mrkdwn(letters(size)) })]],
  ['cardBody', 'a card', (size) => [card({ body: mrkdwn(letters(size)) })]],
  ['carouselCards', 'a carousel', (size) => [{ type: 'carousel', elements: times(size, () => card()) }]],
  ['containerHeading', 'a title', (size) => [container({ title: plain(letters(size)) })]],
  ['containerHeading', 'a subtitle', (size) => [container({ subtitle: plain(letters(size)) })]],
  [
    'containerBlocks',
    'a container',
    (size) => [container({ child_blocks: times(size, () => ({ type: 'divider' })) })],
  ],
  [
    'richTextIndent',
    'a list',
    (size) => [
      richText({
        ...{ type: 'rich_text_list', style: 'bullet', indent: size },
        elements: [richSection({ type: 'text', text: 'a' })],
      }),
    ],
  ],
  ['taskId', 'a task', (size) => [task({ task_id: letters(size) })]],
];

/** A file can be put into a modal only. */
const surfaceOf = (limit: Limit) => (limit === 'fileInputFiles' ? 'modal' : 'message');

test.each(edges)('%s of %s: the limit is accepted and one more is not', (limit, _place, make) => {
  expect(checkBlocks(make(LIMITS[limit]), surfaceOf(limit))).toEqual([]);
  expect(checkBlocks(make(LIMITS[limit] + 1), surfaceOf(limit))).not.toEqual([]);
});

const viewEdges: readonly (readonly [limit: Limit, place: string, make: (size: number) => JsonObject])[] = [
  ['viewTitle', 'title', (size) => ({ title: plain(letters(size)) })],
  ['viewButton', 'submit', (size) => ({ submit: plain(letters(size)) })],
  ['viewButton', 'close', (size) => ({ close: plain(letters(size)) })],
  ['privateMetadata', 'private_metadata', (size) => ({ private_metadata: letters(size) })],
  ['callbackId', 'callback_id', (size) => ({ callback_id: letters(size) })],
  ['externalId', 'external_id', (size) => ({ external_id: letters(size) })],
  ['viewBlocks', 'blocks', (size) => ({ blocks: times(size, () => ({ type: 'divider' })) })],
];

test.each(viewEdges)(
  '%s of %s: the limit is accepted and one more is refused there',
  (limit, place, make) => {
    expect(checkView(modal(make(LIMITS[limit])), 'modal')).toMatchObject({ ok: true });
    const checked = checkView(modal(make(LIMITS[limit] + 1)), 'modal');
    expect(checked).toMatchObject({ ok: false });
    expect(JSON.stringify(checked)).toContain(`/view/${place}`);
  },
);

/** Limits of methods, files and connections, which the tests of those hold. */
const ELSEWHERE: readonly Limit[] = [
  ...(['messageText', 'updateText', 'messageAttachments', 'messageBlockCharacters'] as const),
  ...(['viewBytes', 'viewStack', 'messageFiles', 'fileBytes', 'fileAlt'] as const),
  ...(['statusLoadingMessages', 'profileStatus', 'suggestedPrompts', 'sessionTitle', 'taskTitle'] as const),
  ...(['directMessageUsers', 'historyPage', 'socketConnections', 'responseUrlUses'] as const),
];

test('every limit of blocks and views is tried at its edge', () => {
  const tried = [...edges, ...viewEdges].map(([limit]) => limit);
  expect(new Set([...tried, ...ELSEWHERE])).toEqual(new Set(Object.keys(LIMITS)));
});

test.each<[what: string, make: (size: number) => JsonObject[], least?: number]>([
  ['elements of actions', (size) => [actions(...times(size, () => button()))]],
  ['elements of a context', (size) => [{ type: 'context', elements: times(size, () => plain('a')) }]],
  ['fields of a section', (size) => [{ type: 'section', fields: times(size, () => plain('a')) }]],
  ['options of an overflow menu', choices('overflow')],
  ['options of a select', choices('static_select')],
  ['options of a select of several', choices('multi_static_select')],
  ['options of checkboxes', choices('checkboxes')],
  ['options of radio buttons', choices('radio_buttons')],
  ['groups', (size) => [actions(grouped(times(size, () => ({ label: plain('G'), options: [option()] }))))]],
  [
    'options of a group',
    (size) => [actions(grouped([{ label: plain('G'), options: times(size, () => option()) }]))],
  ],
  ['elements of rich text', (size) => [richText(...times(size, () => richSection()))]],
  ['rows of a table', (size) => [table(times(size, () => [cell()]))]],
  ['cells of a row', (size) => [table([times(size, () => cell())])]],
  ['rows of a data table', (size) => [dataTable(times(size, () => [cell()]))], 2],
  ['rows on a page', (size) => [dataTable([[cell()], [cell()]], { page_size: size })]],
  ['cards of a carousel', (size) => [{ type: 'carousel', elements: times(size, () => card()) }]],
  [
    'blocks of a container',
    (size) => [container({ child_blocks: times(size, () => ({ type: 'divider' })) })],
  ],
  ['characters of a header', (size) => [{ type: 'header', text: plain(letters(size)) }]],
  ['characters of a section', (size) => [section(letters(size))]],
  ['characters of a button', (size) => [actions(button({ text: plain(letters(size)) }))]],
  ['characters of a value', (size) => [actions(button({ value: letters(size) }))]],
  ['characters of max_length', (size) => textInput({ max_length: size })],
])('%s: the least number is accepted and one less is not', (_what, make, least = 1) => {
  expect(checkBlocks(make(least))).toEqual([]);
  expect(checkBlocks(make(least - 1))).not.toEqual([]);
});

const other = option({ value: 'two' });
test.each<[what: string, element: JsonObject, refused: JsonObject]>([
  ['an initial option among the options', select([option()]), { initial_option: option() }],
  [
    'a choice among the radio buttons',
    { type: 'radio_buttons', options: [option()] },
    { initial_option: option() },
  ],
  [
    'choices among the checkboxes',
    { type: 'checkboxes', options: [option()] },
    { initial_options: [option()] },
  ],
  [
    'choices among the options of groups',
    { ...grouped([{ label: plain('G'), options: [option()] }]), type: 'multi_static_select' },
    { initial_options: [option()] },
  ],
])('%s is accepted, and any other is not', (_what, element, chosen) => {
  const changed = JSON.parse(JSON.stringify(chosen).replaceAll('"one"', '"two"'));
  expect(other).not.toEqual(option());
  expect(checkBlocks(inInput({ ...element, ...chosen }))).toEqual([]);
  expect(checkBlocks(inInput({ ...element, ...changed }))).not.toEqual([]);
});

test.each<[what: string, good: JsonObject[], bad: JsonObject[]]>([
  [
    'min_length up to max_length',
    textInput({ min_length: 3, max_length: 3 }),
    textInput({ min_length: 4, max_length: 3 }),
  ],
  [
    'an initial value up to max_length',
    textInput({ initial_value: 'abc', max_length: 3 }),
    textInput({ initial_value: 'abcd', max_length: 3 }),
  ],
  [
    'min_value up to max_value',
    inInput(numberInput({ min_value: '3', max_value: '3' })),
    inInput(numberInput({ min_value: '4', max_value: '3' })),
  ],
  [
    'an initial value between both',
    inInput(numberInput({ initial_value: '10', min_value: '9' })),
    inInput(numberInput({ initial_value: '10', max_value: '9' })),
  ],
  [
    'min_lines up to max_lines',
    inInput({ type: 'rich_text_input', min_lines: 2, max_lines: 2 }),
    inInput({ type: 'rich_text_input', min_lines: 3, max_lines: 2 }),
  ],
  [
    'as many initial options as may be selected',
    inInput(several({ initial_options: [option()], max_selected_items: 1 })),
    inInput(several({ initial_options: [option(), other], max_selected_items: 1 })),
  ],
  [
    'one element with the focus',
    [...textInput({ focus_on_load: true }), ...textInput({ focus_on_load: false })],
    [...textInput({ focus_on_load: true }), ...textInput({ focus_on_load: true })],
  ],
  [
    'rows of one length in a data table',
    [dataTable([[cell()], [cell()]])],
    [dataTable([[cell()], [cell(), cell()]])],
  ],
  [
    'different ids in a container',
    [{ type: 'divider', block_id: 'a' }, container({ child_blocks: [{ type: 'divider', block_id: 'b' }] })],
    [{ type: 'divider', block_id: 'a' }, container({ child_blocks: [{ type: 'divider', block_id: 'a' }] })],
  ],
])('%s: accepted, and refused beyond', (_what, good, bad) => {
  expect(checkBlocks(good)).toEqual([]);
  expect(checkBlocks(bad)).not.toEqual([]);
});

function grouped(option_groups: unknown): JsonObject {
  return { type: 'static_select', action_id: 'pick', option_groups };
}

function several(changes: JsonObject): JsonObject {
  return { type: 'multi_static_select', options: [option(), option({ value: 'two' })], ...changes };
}

function numberInput(changes: JsonObject): JsonObject {
  return { type: 'number_input', is_decimal_allowed: false, ...changes };
}

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

test('a modal with an input needs a submit button', () => {
  const { submit: _submit, ...without } = modal();
  expect(checkView(without, 'modal')).toEqual({
    ok: false,
    problems: [{ pointer: '/view', reason: 'missing required field: submit' }],
  });
});
