import { z } from 'zod';
import { checkBlocks, countCharacters } from '../block-kit/check-blocks.ts';
import { LIMITS } from '../limits.ts';
import { isObject, normalizeBlocks, objects } from '../state/normalize-blocks.ts';
import type { Block, JsonObject, MessageContent } from '../state/types.ts';
import { json, optionalString } from './arguments.ts';
import { Refusal, refusalOf } from './refusal.ts';

/** The arguments with which every method and response_url takes the content of a message. */
export const contentArguments = {
  text: z
    .union([z.string(), z.number().transform(String)])
    .nullish()
    .transform((value) => value ?? undefined),
  markdown_text: optionalString,
  blocks: json('invalid_blocks_format'),
  attachments: json('invalid_attachments'),
  metadata: json('invalid_metadata_format'),
};

type ContentArguments = z.output<z.ZodObject<typeof contentArguments>>;

const metadataSchema = z.object({
  event_type: z.string().min(1),
  event_payload: z.record(z.string(), z.unknown()),
});

/**
 * Reads the content of a call with all of Slack's checks. Missing parts come from `previous`, the content of the edited
 * message.
 */
export function readContent(
  given: ContentArguments,
  options: { textLimit: number; previous?: MessageContent } = { textLimit: LIMITS.messageText },
): MessageContent {
  const { previous } = options;
  if (given.markdown_text !== undefined && (given.text !== undefined || given.blocks !== undefined)) {
    throw new Refusal('markdown_text_conflict');
  }
  const blocks =
    given.markdown_text === undefined ? given.blocks : [{ type: 'markdown', text: given.markdown_text }];
  if (blocks !== undefined && !Array.isArray(blocks)) throw new Refusal('invalid_blocks_format');
  if (given.attachments !== undefined && !Array.isArray(given.attachments))
    throw new Refusal('invalid_attachments');
  const hasContent = [given.text ?? '', blocks ?? [], given.attachments ?? []].some(
    (part) => part.length > 0,
  );
  if (!hasContent && (previous === undefined || given.text !== undefined || blocks === undefined))
    throw new Refusal('no_text');
  if ((given.text ?? '').length > options.textLimit) throw new Refusal('msg_too_long');
  const checked = blocks === undefined ? undefined : readBlocks(blocks);
  const attachments = given.attachments === undefined ? undefined : readAttachments(given.attachments);
  const metadata = given.metadata === undefined ? previous?.metadata : readMetadata(given.metadata);
  return {
    text: given.text ?? given.markdown_text ?? previous?.text ?? '',
    blocks: checked ?? previous?.blocks ?? [],
    attachments: attachments ?? previous?.attachments ?? [],
    ...(metadata !== undefined && { metadata }),
  };
}

/** Reads the blocks of a message with all of Slack's checks. */
export function readBlocks(blocks: unknown): Block[] {
  if (!Array.isArray(blocks)) throw new Refusal('invalid_blocks_format');
  const problems = checkBlocks(blocks);
  if (problems.length > 0) throw refusalOf('invalid_blocks', problems);
  if (countCharacters(blocks) > LIMITS.messageBlockCharacters) throw new Refusal('msg_blocks_too_long');
  return normalizeBlocks(objects(blocks));
}

function readAttachments(given: readonly unknown[]): JsonObject[] {
  const attachments = objects(given);
  if (attachments.length > LIMITS.messageAttachments) throw new Refusal('too_many_attachments');
  const hasBrokenBlocks = attachments.some(
    ({ blocks }) => blocks !== undefined && checkBlocks(blocks).length > 0,
  );
  if (attachments.length < given.length || hasBrokenBlocks) throw new Refusal('invalid_attachments');
  return attachments;
}

/** Reads metadata; an empty object removes it. */
export function readMetadata(metadata: unknown): MessageContent['metadata'] {
  if (isObject(metadata) && Object.keys(metadata).length === 0) return undefined;
  const parsed = metadataSchema.safeParse(metadata);
  if (!parsed.success) throw new Refusal('invalid_metadata_format');
  return parsed.data;
}
