import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { conversationFilter, menuOption, optionGroup } from './composition.ts';
import { menu } from './element-parts.ts';

const max_selected_items = z.number().int().min(1).optional();
const min_query_length = z.number().int().min(0).optional();
const choices = {
  options: z.array(menuOption).min(1).max(LIMITS.selectOptions).optional(),
  option_groups: z.array(optionGroup).min(1).max(LIMITS.selectOptionGroups).optional(),
};
const oneSource = (select: { options?: unknown; option_groups?: unknown }) =>
  (select.options === undefined) !== (select.option_groups === undefined);
type Offered = {
  readonly options?: readonly unknown[] | undefined;
  readonly option_groups?: readonly { readonly options: readonly unknown[] }[] | undefined;
  readonly initial_option?: unknown;
  readonly initial_options?: readonly unknown[] | undefined;
};

/** True when what is chosen at first is offered, word for word. */
export function isChosenFromOptions({
  options = [],
  option_groups = [],
  initial_option,
  initial_options = initial_option === undefined ? [] : [initial_option],
}: Offered): boolean {
  const offered = [...options, ...option_groups.flatMap((group) => group.options)].map(asKey);
  return initial_options.every((option) => offered.includes(asKey(option)));
}

function asKey(option: unknown): string {
  return JSON.stringify(option);
}

/** The refusal of a choice that is not among the options. */
export const NOT_OFFERED = 'initial options must be among the options';
const isWithinMaximum = (select: {
  initial_options?: readonly unknown[] | undefined;
  max_selected_items?: number | undefined;
}) => (select.initial_options?.length ?? 0) <= (select.max_selected_items ?? Number.POSITIVE_INFINITY);
const TOO_MANY = 'no more initial options than max_selected_items allowed';
const ONE_SOURCE = 'must have exactly one of options and option_groups';

/** Every select menu, of one and of several. */
export const selects = [
  z
    .strictObject({
      type: z.literal('static_select'),
      ...menu,
      ...choices,
      initial_option: menuOption.optional(),
    })
    .refine(oneSource, ONE_SOURCE)
    .refine(isChosenFromOptions, NOT_OFFERED),
  z
    .strictObject({
      type: z.literal('multi_static_select'),
      ...menu,
      ...choices,
      initial_options: z.array(menuOption).min(1).optional(),
      max_selected_items,
    })
    .refine(oneSource, ONE_SOURCE)
    .refine(isChosenFromOptions, NOT_OFFERED)
    .refine(isWithinMaximum, TOO_MANY),
  z.strictObject({ type: z.literal('users_select'), ...menu, initial_user: z.string().optional() }),
  z.strictObject({
    type: z.literal('multi_users_select'),
    ...menu,
    initial_users: z.array(z.string()).optional(),
    max_selected_items,
  }),
  z.strictObject({
    type: z.literal('channels_select'),
    ...menu,
    initial_channel: z.string().optional(),
    response_url_enabled: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal('multi_channels_select'),
    ...menu,
    initial_channels: z.array(z.string()).optional(),
    max_selected_items,
  }),
  z.strictObject({
    type: z.literal('conversations_select'),
    ...menu,
    initial_conversation: z.string().optional(),
    default_to_current_conversation: z.boolean().optional(),
    response_url_enabled: z.boolean().optional(),
    filter: conversationFilter.optional(),
  }),
  z.strictObject({
    type: z.literal('multi_conversations_select'),
    ...menu,
    initial_conversations: z.array(z.string()).optional(),
    default_to_current_conversation: z.boolean().optional(),
    max_selected_items,
    filter: conversationFilter.optional(),
  }),
  z.strictObject({
    type: z.literal('external_select'),
    ...menu,
    initial_option: menuOption.optional(),
    min_query_length,
  }),
  z.strictObject({
    type: z.literal('multi_external_select'),
    ...menu,
    initial_options: z.array(menuOption).optional(),
    min_query_length,
    max_selected_items,
  }),
] as const;
