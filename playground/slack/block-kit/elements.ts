import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { choiceOption, colorScheme, overflowOption, plainText, text } from './composition.ts';
import { accessibility_label, action_id, confirm, input, menu, picker } from './element-parts.ts';
import { richText } from './rich-text.ts';
import { isChosenFromOptions, NOT_OFFERED, selects } from './selects.ts';

/** A button; with a `url` it opens a page and still sends its action. */
export const button = z.strictObject({
  type: z.literal('button'),
  action_id,
  text: plainText(LIMITS.buttonText),
  value: text(LIMITS.buttonValue).optional(),
  url: text(LIMITS.buttonUrl).optional(),
  style: colorScheme.optional(),
  confirm,
  accessibility_label,
});

/** An image inside a section or a context block: a link or a Slack file, not both. */
export const imageElement = z
  .strictObject({
    type: z.literal('image'),
    alt_text: text(LIMITS.imageAlt),
    image_url: text(LIMITS.imageUrl).optional(),
    slack_file: z
      .strictObject({ id: text(LIMITS.fileId).optional(), url: text(LIMITS.imageUrl).optional() })
      .optional(),
  })
  .refine(
    (image) => (image.image_url === undefined) !== (image.slack_file === undefined),
    'must have exactly one of image_url and slack_file',
  );

const overflow = z.strictObject({
  type: z.literal('overflow'),
  action_id,
  confirm,
  options: z.array(overflowOption).min(1).max(LIMITS.overflowOptions),
});

const choiceOptions = z.array(choiceOption).min(1).max(LIMITS.choiceOptions);
const pickers = [
  z
    .strictObject({
      type: z.literal('checkboxes'),
      ...picker,
      options: choiceOptions,
      initial_options: z.array(choiceOption).min(1).optional(),
    })
    .refine(isChosenFromOptions, NOT_OFFERED),
  z
    .strictObject({
      type: z.literal('radio_buttons'),
      ...picker,
      options: choiceOptions,
      initial_option: choiceOption.optional(),
    })
    .refine(isChosenFromOptions, NOT_OFFERED),
  z.strictObject({
    type: z.literal('datepicker'),
    ...menu,
    initial_date: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/)
      .optional(),
  }),
  z.strictObject({
    type: z.literal('timepicker'),
    ...menu,
    initial_time: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .optional(),
    timezone: z.string().optional(),
  }),
] as const;

const dateTimePicker = z.strictObject({
  type: z.literal('datetimepicker'),
  ...picker,
  initial_date_time: z.number().int().min(1_000_000_000).max(9_999_999_999).optional(),
});

const lines = z.number().int().min(1).max(LIMITS.inputLines).optional();
const richTextInput = z
  .strictObject({
    type: z.literal('rich_text_input'),
    ...input,
    initial_value: richText.optional(),
    min_lines: lines,
    max_lines: lines,
  })
  .refine(
    ({ min_lines = 1, max_lines = LIMITS.inputLines }) => min_lines <= max_lines,
    'min_lines cannot be greater than max_lines',
  );

const numeric = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .optional();
const inputs = [
  z
    .strictObject({
      type: z.literal('plain_text_input'),
      ...input,
      initial_value: z.string().max(LIMITS.inputText).optional(),
      multiline: z.boolean().optional(),
      min_length: z.number().int().min(0).max(LIMITS.inputText).optional(),
      max_length: z.number().int().min(1).max(LIMITS.inputText).optional(),
    })
    .refine(
      ({ min_length = 0, max_length = LIMITS.inputText }) => min_length <= max_length,
      'min_length cannot be greater than max_length',
    )
    .refine(
      ({ initial_value = '', max_length = LIMITS.inputText }) => initial_value.length <= max_length,
      'initial_value cannot be longer than max_length',
    ),
  z.strictObject({ type: z.literal('email_text_input'), ...input, initial_value: z.string().optional() }),
  z.strictObject({ type: z.literal('url_text_input'), ...input, initial_value: z.string().optional() }),
  z
    .strictObject({
      type: z.literal('number_input'),
      ...input,
      is_decimal_allowed: z.boolean(),
      initial_value: numeric,
      min_value: numeric,
      max_value: numeric,
    })
    .refine(
      ({ min_value = '-Infinity', max_value = 'Infinity' }) => Number(min_value) <= Number(max_value),
      'min_value cannot be greater than max_value',
    )
    .refine(
      ({ initial_value, min_value = '-Infinity', max_value = 'Infinity' }) =>
        initial_value === undefined ||
        (Number(min_value) <= Number(initial_value) && Number(initial_value) <= Number(max_value)),
      'initial_value must be between min_value and max_value',
    ),
  z.strictObject({
    type: z.literal('file_input'),
    action_id,
    filetypes: z.array(z.string()).optional(),
    max_files: z.number().int().min(1).max(LIMITS.fileInputFiles).optional(),
  }),
] as const;

const feedbackButton = z.strictObject({
  text: plainText(LIMITS.buttonText),
  value: text(LIMITS.buttonValue),
  accessibility_label,
});

/** Elements of a `context_actions` block. */
export const contextAction = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('feedback_buttons'),
    action_id,
    positive_button: feedbackButton,
    negative_button: feedbackButton,
  }),
  z.strictObject({
    type: z.literal('icon_button'),
    action_id,
    icon: z.enum(['trash']),
    text: plainText(LIMITS.buttonText),
    value: text(LIMITS.buttonValue).optional(),
    confirm,
    accessibility_label,
    visible_to_user_ids: z.array(z.string()).optional(),
  }),
]);

/** Elements of an `actions` block. */
export const actionsElement = z.discriminatedUnion('type', [
  button,
  overflow,
  ...selects,
  ...pickers,
  dateTimePicker,
  richTextInput,
]);

/** Accessories of a section. */
export const accessory = z.discriminatedUnion('type', [
  button,
  overflow,
  imageElement,
  ...selects,
  ...pickers,
]);

/** Elements of an `input` block. */
export const inputElement = z.discriminatedUnion('type', [
  ...selects,
  ...pickers,
  dateTimePicker,
  richTextInput,
  ...inputs,
]);
