import { z } from 'zod';
import { LIMITS } from '../limits.ts';

/** A string of 1 to `max` characters. */
export const text = (max: number) => z.string().min(1).max(max);

/** A `plain_text` object of 1 to `max` characters. */
export const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: text(max), emoji: z.boolean().optional() });

/** A `mrkdwn` object of 1 to `max` characters. */
export const markdownText = (max: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: text(max), verbatim: z.boolean().optional() });

/** Either text object, of 1 to `max` characters. */
export const anyText = (max: number) => z.discriminatedUnion('type', [plainText(max), markdownText(max)]);

const described = {
  value: text(LIMITS.optionValue),
  description: plainText(LIMITS.optionDescription).optional(),
};

/** An option of a select menu. */
export const menuOption = z.strictObject({ text: plainText(LIMITS.optionText), ...described });

/** An option of an overflow menu, the only one that may carry a link. */
export const overflowOption = z.strictObject({
  text: plainText(LIMITS.optionText),
  ...described,
  url: text(LIMITS.optionUrl).optional(),
});

/** An option of radio buttons or checkboxes, which may use mrkdwn. */
export const choiceOption = z.strictObject({
  text: anyText(LIMITS.optionText),
  value: text(LIMITS.optionValue),
  description: anyText(LIMITS.optionDescription).optional(),
});

/** A titled group of options. */
export const optionGroup = z.strictObject({
  label: plainText(LIMITS.groupLabel),
  options: z.array(menuOption).min(1).max(LIMITS.selectOptions),
});

/** The colours a button may have. */
export const colorScheme = z.enum(['primary', 'danger']);

/** The confirmation dialog of an interactive element. */
export const confirmation = z.strictObject({
  title: plainText(LIMITS.confirmTitle),
  text: anyText(LIMITS.confirmText),
  confirm: plainText(LIMITS.confirmButton),
  deny: plainText(LIMITS.confirmButton),
  style: colorScheme.optional(),
});

/** The filter of a conversation menu; Slack refuses an empty one. */
export const conversationFilter = z
  .strictObject({
    include: z
      .array(z.enum(['im', 'mpim', 'private', 'public']))
      .min(1)
      .optional(),
    exclude_external_shared_channels: z.boolean().optional(),
    exclude_bot_users: z.boolean().optional(),
  })
  .refine((filter) => Object.keys(filter).length > 0, 'must have at least one property');

/** The keystrokes of an input that send a block action. */
export const dispatchActionConfig = z.strictObject({
  trigger_actions_on: z
    .array(z.enum(['on_enter_pressed', 'on_character_entered']))
    .min(1)
    .optional(),
});
