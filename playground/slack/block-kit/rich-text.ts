import { z } from 'zod';
import { LIMITS } from '../limits.ts';

const flag = z.boolean().optional();
const style = z
  .strictObject({ bold: flag, italic: flag, strike: flag, code: flag, underline: flag })
  .optional();

const plain = z.strictObject({ type: z.literal('text'), text: z.string().min(1), style });
const link = z.strictObject({
  type: z.literal('link'),
  url: z.string().min(1),
  // Slack refuses an empty text here too.
  text: z.string().min(1).optional(),
  unsafe: flag,
  style,
});

const inline = z.discriminatedUnion('type', [
  plain,
  link,
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']), style }),
  z.strictObject({ type: z.literal('color'), value: z.string(), style }),
  z.strictObject({ type: z.literal('channel'), channel_id: z.string(), style }),
  z.strictObject({ type: z.literal('team'), team_id: z.string(), style }),
  z.strictObject({ type: z.literal('user'), user_id: z.string(), style }),
  z.strictObject({ type: z.literal('usergroup'), usergroup_id: z.string(), style }),
  z.strictObject({
    type: z.literal('date'),
    timestamp: z.number().int(),
    format: z.string().min(1),
    url: z.string().optional(),
    fallback: z.string().optional(),
    style,
  }),
  z.strictObject({
    type: z.literal('emoji'),
    name: z.string().min(1),
    unicode: z.string().optional(),
    url: z.string().optional(),
    style,
  }),
]);

const border = z.union([z.literal(0), z.literal(1)]).optional();
const section = z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(inline) });
const preformatted = z.strictObject({
  type: z.literal('rich_text_preformatted'),
  elements: z.array(z.discriminatedUnion('type', [plain, link])),
  border,
  language: z.string().optional(),
});
const quote = z.strictObject({ type: z.literal('rich_text_quote'), elements: z.array(inline), border });
const list = z.strictObject({
  type: z.literal('rich_text_list'),
  style: z.enum(['bullet', 'ordered']),
  elements: z.array(section).min(1),
  indent: z.number().int().min(0).max(LIMITS.richTextIndent).optional(),
  offset: z.number().int().min(0).optional(),
  border,
});

/** A `rich_text` block, alone or inside a table cell, a task or an input. */
export const richText = z.strictObject({
  type: z.literal('rich_text'),
  block_id: z.string().min(1).max(LIMITS.blockId).optional(),
  elements: z.array(z.discriminatedUnion('type', [section, preformatted, quote, list])).min(1),
});
