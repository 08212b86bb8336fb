import type { AnyChunk, KnownBlock } from '@slack/types';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import type { ReplyPart } from '../views/reply-parts.ts';

/** Writes the parts of a reply as chunks of a stream. */
export function chunksOf(parts: readonly ReplyPart[]): AnyChunk[] {
  return parts.map(({ text, table }) =>
    table === undefined ? { type: 'markdown_text', text } : { type: 'blocks', blocks: [table] },
  );
}

/** Writes the parts of a reply as blocks of a message. */
export function blocksOf(parts: readonly ReplyPart[]): KnownBlock[] {
  return parts
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, table }) => table ?? { type: 'markdown', text: text.trim() });
}

/** Sends a reply with its tables as blocks, and where Slack refuses those, once more as Markdown alone. */
export async function withTables<Result>(
  parts: readonly ReplyPart[],
  send: (parts: readonly ReplyPart[]) => Promise<Result>,
): Promise<Result> {
  if (parts.every(({ table }) => table === undefined)) return send(parts);
  try {
    return await send(parts);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (
      failure.kind !== 'impossible' ||
      !/^invalid_(?:blocks|chunks|attachments|arguments)/.test(failure.reason)
    )
      throw error;
    return send([{ text: parts.map(({ text }) => text).join('') }]);
  }
}
