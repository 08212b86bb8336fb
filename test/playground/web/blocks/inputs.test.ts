import { describe, expect, test } from 'vitest';
import { collectState } from '../../../../playground/slack/people/element-values.ts';
import type { Block, JsonObject } from '../../../../playground/slack/state/types.ts';
import {
  collectValues,
  initialOf,
  keyOf,
  presetFor,
  richTextOf,
  type Slot,
  slotsOf,
  textOfRichText,
  type Value,
} from '../../../../playground/web/src/blocks/elements/element-state.ts';
import {
  validateInputs,
  withoutInvalid,
} from '../../../../playground/web/src/blocks/elements/validate-inputs.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const options = ['a', 'b', 'c'].map((value) => ({ text: plain(value), value }));
const input = (blockId: string, element: JsonObject, more: JsonObject = {}): Block => ({
  type: 'input',
  block_id: blockId,
  label: plain(blockId),
  element: { action_id: 'act', ...element },
  ...more,
});
const slot = (block: Block): Slot => {
  const [first] = slotsOf([block]);
  if (first === undefined) throw new Error(`${block.block_id} holds nothing.`);
  return first;
};
const filledWith = (...entries: [Block, Value][]) =>
  new Map(entries.map(([block, value]) => [keyOf(slot(block)), value]));

describe('the values of a view', () => {
  const every: readonly [JsonObject, Value, unknown][] = [
    [{ type: 'plain_text_input' }, 'words', { value: 'words' }],
    [{ type: 'number_input', is_decimal_allowed: true }, '1.5', { value: '1.5' }],
    [{ type: 'email_text_input' }, 'a@example.com', { value: 'a@example.com' }],
    [{ type: 'url_text_input' }, 'https://a.example', { value: 'https://a.example' }],
    [{ type: 'rich_text_input' }, richTextOf('words'), { rich_text_value: richTextOf('words') }],
    [{ type: 'static_select', options }, 'b', { selected_option: options[1] }],
    [{ type: 'radio_buttons', options }, 'b', { selected_option: options[1] }],
    [{ type: 'checkboxes', options }, ['a', 'c'], { selected_options: [options[0], options[2]] }],
    [{ type: 'multi_static_select', options }, ['c'], { selected_options: [options[2]] }],
    [{ type: 'users_select' }, 'U1', { selected_user: 'U1' }],
    [{ type: 'multi_users_select' }, ['U1'], { selected_users: ['U1'] }],
    [{ type: 'channels_select' }, 'C1', { selected_channel: 'C1' }],
    [{ type: 'multi_conversations_select' }, ['C1'], { selected_conversations: ['C1'] }],
    [{ type: 'datepicker' }, '2026-03-01', { selected_date: '2026-03-01' }],
    [{ type: 'timepicker' }, '09:30', { selected_time: '09:30' }],
    [{ type: 'datetimepicker' }, 1_772_000_000, { selected_date_time: 1_772_000_000 }],
  ];

  test.each(every)('%j reaches the workspace as %j', (element, value, state) => {
    const block = input('one', element);
    const sent = collectValues([block], filledWith([block, value]));
    expect(collectState([block], sent)).toEqual({ one: { act: { type: element.type, ...Object(state) } } });
  });

  test.each(every)('%j can be emptied again', (element, value, state) => {
    const [[field, content] = ['', undefined]] = Object.entries(Object(state));
    const initial = field.startsWith('selected') ? field.replace('selected', 'initial') : 'initial_value';
    const block = input('one', { ...element, [initial]: content });
    expect(initialOf(slot(block).element)).toEqual(value);
    const isList = Array.isArray(value);
    const sent = collectValues([block], filledWith([block, isList ? [] : '']));
    expect(collectState([block], sent)).toEqual({
      one: { act: { type: element.type, [field]: isList ? [] : null } },
    });
  });

  test('goes by action where a block holds several elements', () => {
    const actions: Block = {
      type: 'actions',
      block_id: 'row',
      elements: [
        { type: 'static_select', action_id: 'first', options },
        { type: 'datepicker', action_id: 'second' },
        { type: 'button', action_id: 'go' },
      ],
    };
    const filled = new Map(
      slotsOf([actions]).map((each, index) => [keyOf(each), index === 0 ? 'a' : '2026-03-01']),
    );
    const sent = collectValues([actions], filled);
    expect(sent).toEqual({ first: 'a', second: '2026-03-01' });
    expect(() => collectState([actions], sent)).not.toThrow();
  });

  test('is not mixed up between blocks whose elements share an action id', () => {
    const [one, other] = [
      input('one', { type: 'plain_text_input' }),
      input('other', { type: 'plain_text_input' }),
    ];
    expect(collectValues([one, other], filledWith([one, '1'], [other, '2']))).toEqual({
      one: '1',
      other: '2',
    });
  });

  test('is left out with the block that it stood in, and for the element that is clicked', () => {
    const [one, other] = [
      input('one', { type: 'plain_text_input' }),
      input('other', { type: 'plain_text_input' }),
    ];
    const filled = filledWith([one, '1'], [other, '2']);
    expect(collectValues([other], filled)).toEqual({ other: '2' });
    expect(collectValues([one, other], filled, slot(one))).toEqual({ other: '2' });
  });

  test('is found inside a container, under the name of the container', () => {
    const container: Block = {
      type: 'container',
      block_id: 'box',
      child_blocks: [input('inner', { type: 'plain_text_input' })],
    };
    expect(collectValues([container], filledWith([container, 'x']))).toEqual({ box: 'x' });
  });
});

describe('the initial value of an element', () => {
  test.each([
    [{ type: 'static_select', initial_option: options[1] }, 'b'],
    [{ type: 'checkboxes', initial_options: [options[0], options[2]] }, ['a', 'c']],
    [{ type: 'plain_text_input', initial_value: 'x' }, 'x'],
    [{ type: 'plain_text_input' }, ''],
    [{ type: 'multi_users_select' }, []],
    [{ type: 'datetimepicker', initial_date_time: 5 }, 5],
    [{ type: 'button' }, undefined],
    [{ type: 'hologram' }, undefined],
  ])('of %j is %j', (element, value) => {
    expect(initialOf(element)).toEqual(value);
  });

  test('can be the conversation that is open', () => {
    const one = input('one', { type: 'conversations_select', default_to_current_conversation: true });
    const several = input('two', {
      type: 'multi_conversations_select',
      default_to_current_conversation: true,
    });
    const usual = input('three', { type: 'conversations_select' });
    const blocks = [one, several, usual];
    expect(collectValues(blocks, presetFor(blocks, 'C1'))).toEqual({ one: 'C1', two: ['C1'] });
  });
});

describe('a form', () => {
  const problemIn = (block: Block, value?: Value) =>
    validateInputs([block], value === undefined ? new Map() : filledWith([block, value]))[block.block_id];

  test.each([
    [{ type: 'plain_text_input' }, ' \n'],
    [{ type: 'static_select', options }, undefined],
    [{ type: 'checkboxes', options, initial_options: options }, []],
    [{ type: 'rich_text_input' }, ''],
  ])('is not sent with nothing in %j', (element, value) => {
    expect(problemIn(input('one', element), value)).toBe('Please complete this required field.');
    expect(problemIn(input('one', element, { optional: true }), value)).toBeUndefined();
  });

  test('accepts the initial value of an input as an answer', () => {
    expect(problemIn(input('one', { type: 'plain_text_input', initial_value: 'x' }))).toBeUndefined();
  });

  test.each([
    [{ type: 'plain_text_input', min_length: 3 }, 'ab', /at least 3/],
    [{ type: 'plain_text_input', max_length: 3 }, 'abcd', /at most 3/],
    [{ type: 'number_input', is_decimal_allowed: false }, '1.5', /whole number/],
    [{ type: 'number_input', is_decimal_allowed: false }, '1e3', /enter a number/],
    [{ type: 'number_input', is_decimal_allowed: false, min_value: '2' }, '1', /at least 2/],
    [{ type: 'number_input', is_decimal_allowed: true, max_value: '2' }, '2.5', /at most 2/],
    [{ type: 'email_text_input' }, 'nobody', /email/],
    [{ type: 'url_text_input' }, 'a.example', /URL/],
  ])('is not sent when %j holds %j', (element, value, problem) => {
    expect(problemIn(input('one', element, { optional: true }), value)).toMatch(problem);
    expect(problemIn(input('one', element, { optional: true }), '')).toBeUndefined();
  });

  test('lets a click pass without the input that is only half written', () => {
    const [mail, words] = [
      input('mail', { type: 'email_text_input' }),
      input('words', { type: 'plain_text_input' }),
    ];
    const filled = withoutInvalid([mail, words], filledWith([mail, 'nobody@'], [words, 'x']));
    expect(collectValues([mail, words], filled)).toEqual({ words: 'x' });
  });

  test('shows rich text as plain text', () => {
    const list = { type: 'rich_text_list', elements: ['a', 'b'].map((text) => ({ elements: [{ text }] })) };
    expect(textOfRichText({ type: 'rich_text', elements: [{ elements: [{ text: 'x' }] }, list] })).toBe(
      'x\na\nb',
    );
    expect(textOfRichText(richTextOf('one\ntwo'))).toBe('one\ntwo');
  });
});
