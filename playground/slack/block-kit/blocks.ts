import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { anyText, markdownText, plainText, text } from './composition.ts';
import { accessory, actionsElement, button, contextAction, imageElement, inputElement } from './elements.ts';
import { richText } from './rich-text.ts';

const block_id = text(LIMITS.blockId).optional();

const actions = z.strictObject({
  type: z.literal('actions'),
  block_id,
  elements: z.array(actionsElement).min(1).max(LIMITS.actionsElements),
});

const section = z
  .strictObject({
    type: z.literal('section'),
    block_id,
    text: anyText(LIMITS.text).optional(),
    fields: z.array(anyText(LIMITS.sectionField)).min(1).max(LIMITS.sectionFields).optional(),
    accessory: accessory.optional(),
    expand: z.boolean().optional(),
  })
  .refine(
    (block) => block.text !== undefined || block.fields !== undefined,
    'must have one of text and fields',
  );

const context = z.strictObject({
  type: z.literal('context'),
  block_id,
  elements: z
    .array(z.discriminatedUnion('type', [plainText(LIMITS.text), markdownText(LIMITS.text), imageElement]))
    .min(1)
    .max(LIMITS.contextElements),
});

const divider = z.strictObject({ type: z.literal('divider'), block_id });
const header = z.strictObject({ type: z.literal('header'), block_id, text: plainText(LIMITS.header) });

const image = z
  .strictObject({ ...imageElement.shape, block_id, title: plainText(LIMITS.imageTitle).optional() })
  .refine(
    (block) => (block.image_url === undefined) !== (block.slack_file === undefined),
    'must have exactly one of image_url and slack_file',
  );

const input = z.strictObject({
  type: z.literal('input'),
  block_id,
  label: plainText(LIMITS.inputLabel),
  element: inputElement,
  hint: plainText(LIMITS.inputHint).optional(),
  optional: z.boolean().optional(),
  dispatch_action: z.boolean().optional(),
});

const cell = z.discriminatedUnion('type', [
  richText,
  z.strictObject({ type: z.literal('raw_text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('raw_number'), value: z.number(), text: z.string().min(1) }),
]);
const row = z.array(cell).min(1).max(LIMITS.tableColumns);
const rows = z.array(row).min(1).max(LIMITS.tableRows);
/** A header and at least one row, all of the same length; a header has no rich text. */
const dataRows = z
  .array(row)
  .min(2)
  .max(LIMITS.dataTableRows)
  .refine((all) => new Set(all.map(({ length }) => length)).size <= 1, 'all rows must have as many cells')
  .refine(([head = []]) => head.every(({ type }) => type !== 'rich_text'), 'no rich_text in the header');

const table = z.strictObject({
  type: z.literal('table'),
  block_id,
  rows,
  column_settings: z
    .array(
      z
        .strictObject({
          align: z.enum(['left', 'center', 'right']).optional(),
          is_wrapped: z.boolean().optional(),
        })
        .nullable(),
    )
    .max(LIMITS.tableColumns)
    .optional(),
});

const taskCard = z.strictObject({
  type: z.literal('task_card'),
  block_id,
  task_id: text(LIMITS.taskId),
  title: z.string().min(1),
  status: z.enum(['pending', 'in_progress', 'complete', 'error']),
  details: richText.optional(),
  output: richText.optional(),
  sources: z.array(z.strictObject({ type: z.literal('url'), url: z.string(), text: z.string() })).optional(),
});

const card = z
  .strictObject({
    type: z.literal('card'),
    block_id,
    hero_image: imageElement.optional(),
    icon: imageElement.optional(),
    title: markdownText(LIMITS.cardHeading).optional(),
    subtitle: markdownText(LIMITS.cardHeading).optional(),
    body: markdownText(LIMITS.cardBody).optional(),
    actions: z.array(button).min(1).optional(),
  })
  .refine(
    (block) => [block.hero_image, block.title, block.body, block.actions].some((part) => part !== undefined),
    'must have one of hero_image, title, actions and body',
  );

const container = z
  .strictObject({
    type: z.literal('container'),
    block_id,
    title: plainText(LIMITS.containerHeading).optional(),
    rich_text_title: richText.optional(),
    subtitle: anyText(LIMITS.containerHeading).optional(),
    icon: imageElement.optional(),
    width: z.enum(['narrow', 'standard', 'wide', 'full']).optional(),
    is_collapsible: z.boolean().optional(),
    default_collapsed: z.boolean().optional(),
    has_header_divider: z.boolean().optional(),
    child_blocks: z
      .array(
        z.discriminatedUnion('type', [
          actions,
          section,
          context,
          divider,
          header,
          image,
          input,
          richText,
          table,
        ]),
      )
      .min(1)
      .max(LIMITS.containerBlocks),
  })
  .refine(
    (block) => block.title !== undefined || block.rich_text_title !== undefined,
    'must have one of title and rich_text_title',
  );

/** Every block this workspace knows; all objects are strict, so an unknown property is refused. */
export const block = z.discriminatedUnion('type', [
  actions,
  section,
  context,
  divider,
  header,
  image,
  input,
  richText,
  table,
  taskCard,
  card,
  container,
  z.strictObject({ type: z.literal('markdown'), block_id, text: text(LIMITS.markdown) }),
  z.strictObject({
    type: z.literal('context_actions'),
    block_id,
    elements: z.array(contextAction).min(1).max(LIMITS.contextActionsElements),
  }),
  z.strictObject({
    type: z.literal('plan'),
    block_id,
    title: z.string().min(1),
    tasks: z.array(taskCard).optional(),
  }),
  z.strictObject({
    type: z.literal('alert'),
    block_id,
    text: anyText(LIMITS.text),
    level: z.enum(['default', 'info', 'warning', 'error', 'success']).optional(),
  }),
  z.strictObject({
    type: z.literal('carousel'),
    block_id,
    elements: z.array(card).min(1).max(LIMITS.carouselCards),
  }),
  z.strictObject({
    type: z.literal('data_table'),
    block_id,
    caption: z.string().min(1),
    rows: dataRows,
    page_size: z.number().int().min(1).max(LIMITS.dataTablePage).optional(),
    row_header_column_index: z.number().int().min(0).optional(),
  }),
]);

/** Blocks that Slack accepts in messages only. */
export const MESSAGE_ONLY = [
  'markdown',
  'context_actions',
  'table',
  'data_table',
  'task_card',
  'plan',
  'carousel',
];
