import { z } from 'zod';
import type { OutboxItem } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { plain } from '../cards/card.ts';
import { escapeMarkup } from '../cards/show-text.ts';
import { harmlessMarkdown } from '../reply/harmless-markdown.ts';
import { findPosted, messageMark } from './find-posted.ts';
import { judgeSlackFailure } from './slack-failure.ts';

const Row = z.object({
  /** A reply is the model's Markdown; a notice is ours, in Slack's own markup; plain is ours with words of others in it. */
  kind: z.enum(['reply', 'notice', 'plain']),
  channel: z.string().optional(),
  user: z.string().optional(),
  threadTs: z.string().optional(),
  text: z.string(),
  standing: z
    .object({ ts: z.string(), sent: z.number(), session: z.enum(['active', 'suspended']) })
    .optional(),
});
type Row = z.infer<typeof Row>;

/** Sends one message once; a reply that stands already, half shown, is completed where it stands. */
export async function sendRow(parts: BotParts, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const row = Row.parse(item.body);
  try {
    if (row.standing === undefined || !(await complete(parts, row))) await post(parts, item, row);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    // Nobody can be told there, and another try would not change that.
    parts.logger.error(
      { item: item.item, reason: failure.reason },
      'a message could not be delivered and is dropped',
    );
  }
  await parts.store.doneRow(item);
}

async function post({ client }: BotParts, item: OutboxItem, row: Row): Promise<void> {
  const channel = row.channel ?? (await openDirect(client, row.user ?? ''));
  const { threadTs } = row;
  if (item.tries > 0 && (await findPosted(client, item.item, { channel, threadTs })) !== undefined) return;
  await client.chat.postMessage({
    channel,
    ...(threadTs !== undefined && { thread_ts: threadTs }),
    ...contentOf(row),
    metadata: messageMark(item.item),
    unfurl_links: false,
    unfurl_media: false,
  });
}

function contentOf({ kind, text }: Row) {
  switch (kind) {
    case 'reply':
      return { markdown_text: harmlessMarkdown(text) };
    case 'notice':
      return { text };
    case 'plain':
      return { text: escapeMarkup(text), blocks: [{ type: 'section', text: plain(text) }] };
  }
}

/** Puts the rest of the text into the message that was streamed; `false` when that message is gone. */
async function complete(
  { client, logger }: BotParts,
  { channel = '', standing, text }: Row,
): Promise<boolean> {
  if (standing === undefined) return false;
  const rest = harmlessMarkdown(text.slice(standing.sent));
  try {
    await client.chat.stopStream({
      channel,
      ts: standing.ts,
      session_status: standing.session,
      ...(rest !== '' && { markdown_text: rest }),
    });
    return true;
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
    logger.debug({ err: error }, 'a stream had ended already');
  }
  try {
    await client.chat.update({ channel, ts: standing.ts, markdown_text: harmlessMarkdown(text) });
    return true;
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'gone') return false;
    throw error;
  }
}

/** Opens the direct message with somebody; Slack gives the same channel every time. */
export async function openDirect(client: BotParts['client'], user: string): Promise<string> {
  const { channel } = await client.conversations.open({ users: user });
  if (channel?.id === undefined) throw new Error(`Slack opened no direct message with ${user}`);
  return channel.id;
}
