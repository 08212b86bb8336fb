import { z } from 'zod';
import type { OutboxItem } from '../../store/port/store.ts';
import { plain } from '../cards/card.ts';
import { escapeMarkup } from '../cards/show-text.ts';
import type { BotContext } from '../context.ts';
import { sanitizeMarkdown } from '../reply/sanitize-markdown.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { findPosted, messageMark } from './find-posted.ts';

const Row = z.object({
  /** A reply is the model's Markdown, a notice is our own mrkdwn, and plain is our own text with untrusted text in it. */
  kind: z.enum(['reply', 'notice', 'plain']),
  channel: z.string().optional(),
  user: z.string().optional(),
  threadTs: z.string().optional(),
  text: z.string(),
  /** The streamed message that shows the first `sent` characters. */
  standing: z
    .object({ ts: z.string(), sent: z.number(), session: z.enum(['active', 'suspended']) })
    .optional(),
});
type Row = z.infer<typeof Row>;

/** Sends one message once. A reply that was streamed in part is completed in place. */
export async function sendRow(context: BotContext, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const row = Row.parse(item.body);
  try {
    if (row.standing === undefined || !(await complete(context, row))) await post(context, item, row);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    // Another attempt would fail in the same way.
    context.logger.error({ item: item.item, reason: failure.reason }, 'message dropped');
    context.metrics.count('countersign_messages_dropped_total', {});
  }
  await context.store.doneRow(item);
}

async function post({ client }: BotContext, item: OutboxItem, row: Row): Promise<void> {
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
      return { markdown_text: sanitizeMarkdown(text) };
    case 'notice':
      return { text };
    case 'plain':
      return { text: escapeMarkup(text), blocks: [{ type: 'section', text: plain(text) }] };
  }
}

/** Completes the streamed message; returns `false` if it is gone. */
async function complete(
  { client, logger }: BotContext,
  { channel = '', standing: posted, text }: Row,
): Promise<boolean> {
  if (posted === undefined) return false;
  const rest = sanitizeMarkdown(text.slice(posted.sent));
  try {
    await client.chat.stopStream({
      channel,
      ts: posted.ts,
      session_status: posted.session,
      ...(rest !== '' && { markdown_text: rest }),
    });
    return true;
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
    logger.debug({ err: error }, 'stream had ended already');
  }
  try {
    await client.chat.update({ channel, ts: posted.ts, markdown_text: sanitizeMarkdown(text) });
    return true;
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'gone') return false;
    throw error;
  }
}

/** Opens the direct message with a person; Slack returns the same channel every time. */
export async function openDirect(client: BotContext['client'], user: string): Promise<string> {
  const { channel } = await client.conversations.open({ users: user });
  if (channel?.id === undefined) throw new Error(`Slack opened no direct message with ${user}`);
  return channel.id;
}
