import type { KnownBlock } from '@slack/types';
import { z } from 'zod';
import type { OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { isGroup } from '../slack/directory.ts';
import { findPosted, isMarked, messageMark } from '../slack/find-posted.ts';
import { limits } from '../slack/limits.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';
import { line, linkParts, mentions, plain } from '../views/cards/card.ts';
import { type ReplyPart, replyParts } from '../views/reply-parts.ts';
import { sanitizeMarkdown } from '../views/sanitize-markdown.ts';
import { moment, momentText, words } from '../views/texts/format.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { escapeMarkup } from '../views/texts/show-text.ts';
import { recordEndedUndo, UNDO_ENDED } from './keep-undo.ts';
import { sendPrivately } from './private-notice.ts';
import { blocksOf, chunksOf, withTables } from './reply-content.ts';
import { feedbackBlock } from './reply-rows.ts';
import { addressing, CUT_STREAM } from './reply-stream.ts';

const Row = z.object({
  /**
   * A reply is the model's Markdown, a notice is our own mrkdwn, plain is our own text with untrusted text in it, titled is our own
   * text around a title, with people to mention, and private is a notice that only `user` sees.
   */
  kind: z.enum(['reply', 'notice', 'plain', 'titled', 'private']),
  channel: z.string().optional(),
  user: z.string().optional(),
  threadTs: z.string().optional(),
  text: z.string(),
  /** The person who is told if the message cannot be posted. */
  requester: z.string().optional(),
  /** The request that a titled message is about; where there is a page it is linked. */
  request: z.string().optional(),
  title: z.string().optional(),
  tail: z.string().optional(),
  /** A time behind the title. */
  moment: z.number().optional(),
  /** A channel to name behind the tail, and the text after it. */
  place: z.object({ channel: z.string(), tail: z.string() }).optional(),
  people: z.array(z.string()).optional(),
  /** The text behind the people. */
  end: z.string().optional(),
  /** A button below a notice or a titled message. */
  button: z.object({ actionId: z.string(), text: z.string(), value: z.string() }).optional(),
  /** The people whom a reply mentions at its beginning. */
  addressees: z.array(z.string()).optional(),
  /** The thread and the id of a final answer that people may rate. */
  feedback: z.string().optional(),
  /** The streamed message that shows the first `sent` characters. */
  standing: z
    .object({
      ts: z.string(),
      sent: z.number(),
      session: z.enum(['active', 'suspended']),
    })
    .optional(),
});
type Row = z.infer<typeof Row>;

type RowItem = OutboxItem & { kind: 'row' };

/** Sends rows of one kind, and takes them out of the outbox. */
export type Sender = (context: BotContext, item: RowItem) => Promise<void>;

/** The rows that are no messages, by kind. */
const SENDERS: ReadonlyMap<unknown, Sender> = new Map<string, Sender>([
  [CUT_STREAM, markCutStream],
  [UNDO_ENDED, recordEndedUndo],
  ['file', sendFile],
  ['file-share', sendFile],
]);

/** Sends a row once, by its kind; `further` are the kinds that only the caller knows. */
export function sendRow(
  context: BotContext,
  item: RowItem,
  further: ReadonlyMap<unknown, Sender>,
): Promise<void> {
  const { kind } = item.body;
  const send = further.get(kind) ?? SENDERS.get(kind) ?? sendMessage;
  return send(context, item);
}

/** Sends one message once. A reply that was streamed in part is completed in place. */
async function sendMessage(context: BotContext, item: RowItem): Promise<void> {
  const row = Row.parse(item.body);
  try {
    if (row.standing === undefined || !(await complete(context, row))) await post(context, item, row);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    // Another attempt would fail in the same way.
    context.logger.error({ item: item.item, reason: failure.reason }, 'message dropped');
    context.metrics.count('countersign_messages_dropped_total', {});
    await tellDirectly(context, item, row, failure.reason);
  }
  await context.store.done(item);
}

/** Tells a person directly about a message that cannot be posted, once for all messages of a reply. */
async function tellDirectly(
  { store }: BotContext,
  item: RowItem,
  { channel, threadTs, requester }: Row,
  reason: string,
): Promise<void> {
  if (channel === undefined || requester === undefined) return;
  await store.enqueueOutbox(threadIdOf({ channel, threadTs: threadTs ?? '' }), {
    id: `${item.rowId.replace(/\/[^/]*$/, '')}/undelivered`,
    body: { kind: 'notice', user: requester, text: replyTexts.undelivered(channel, reason) },
  });
}

async function post({ client, pageLink }: BotContext, item: OutboxItem, row: Row): Promise<void> {
  if (row.kind === 'private') return sendPrivately(client, { ...row, user: row.user ?? '' }, noticeOf(row));
  const channel = row.channel ?? (await openDirect(client, row.user ?? ''));
  const { threadTs } = row;
  if (item.tries > 0 && (await findPosted(client, item.item, { channel, threadTs })) !== undefined) return;
  const send = (content: ReturnType<typeof contentOf> | ReturnType<typeof replyContent>) =>
    client.chat.postMessage({
      channel,
      ...(threadTs !== undefined && { thread_ts: threadTs }),
      ...content,
      metadata: messageMark(item.item),
      unfurl_links: false,
      unfurl_media: false,
    });
  if (row.kind !== 'reply') await send(contentOf(row, row.kind, pageLink));
  else await withTables(partsOf(row), (parts) => send(replyContent(row, parts)));
}

function contentOf(row: Row, kind: Exclude<Row['kind'], 'reply'>, pageLink: BotContext['pageLink']) {
  const { text } = row;
  switch (kind) {
    case 'titled':
      return titledContent(row, pageLink);
    case 'notice':
    case 'private':
      return noticeOf(row);
    case 'plain':
      return { text: escapeMarkup(text), blocks: [{ type: 'section', text: plain(text) }] };
  }
}

/** Builds our own text around a title, with people to mention. */
export function titledContent(row: Omit<Row, 'kind'>, pageLink: BotContext['pageLink']) {
  const { text, title = '', tail = '', place, people = [], end = '', button } = row;
  const named = people.map((id) => (isGroup(id) ? `<!subteam^${id}>` : `<@${id}>`)).join(', ');
  const blocks = [
    line(
      ...someWords(text),
      words(title, { bold: true }),
      ...(row.moment === undefined ? [] : [moment(row.moment)]),
      ...someWords(tail),
      ...(place === undefined
        ? []
        : [{ type: 'channel' as const, channel_id: place.channel }, ...someWords(place.tail)]),
      ...(people.length === 0 ? [] : mentions(people)),
      ...someWords(end),
      ...linkParts({ pageLink: row.request === undefined ? undefined : pageLink(row.request) }),
    ),
    ...(button === undefined ? [] : [buttonBlock(button)]),
  ];
  const time = row.moment === undefined ? '' : momentText(row.moment);
  const where = place === undefined ? '' : `<#${place.channel}>${escapeMarkup(place.tail)}`;
  const start = escapeMarkup(`${text}${title}${time}${tail}`);
  return { text: `${start}${where}${named}${escapeMarkup(end)}`, blocks };
}

function noticeOf({ text, button }: Row): { text: string; blocks?: KnownBlock[] } {
  return button === undefined ? { text } : { text, blocks: [line(words(text)), buttonBlock(button)] };
}

/** Slack refuses an empty text element. */
function someWords(text: string) {
  return text === '' ? [] : [words(text)];
}

type Reply = Pick<Row, 'text' | 'feedback' | 'addressees'>;

function partsOf({ text, addressees = [] }: Reply): ReplyPart[] {
  const [first = { text: '' }, ...others] = replyParts(sanitizeMarkdown(text));
  const lead = addressing(addressees, text);
  if (lead === '') return [first, ...others];
  return first.table === undefined
    ? [{ text: `${lead}${first.text}` }, ...others]
    : [{ text: lead }, first, ...others];
}

/** Slack takes a Markdown text or blocks, so a reply with tables or buttons is blocks. */
function replyContent({ text, feedback }: Reply, parts: readonly ReplyPart[]) {
  const [only = { text: '' }, ...others] = parts;
  if (feedback === undefined && others.length === 0 && only.table === undefined)
    return { markdown_text: only.text };
  const blocks = [...blocksOf(parts), ...(feedback === undefined ? [] : [feedbackBlock(feedback)])];
  return { text: escapeMarkup(text.slice(0, limits.fallbackText)), blocks };
}

function buttonBlock({ actionId, text, value }: NonNullable<Row['button']>) {
  const button = { type: 'button' as const, action_id: actionId, text: plain(text), value };
  return { type: 'actions' as const, elements: [button] };
}

/** Completes the streamed message; returns `false` if it is gone. */
async function complete(
  { client, logger }: BotContext,
  { channel = '', threadTs = '', standing: posted, text, feedback, addressees }: Row,
): Promise<boolean> {
  if (posted === undefined) return false;
  const rest = replyParts(sanitizeMarkdown(text), sanitizeMarkdown(text, posted.sent).length);
  try {
    await withTables(rest, (parts) =>
      client.chat.stopStream({
        channel,
        ts: posted.ts,
        session_status: posted.session,
        ...(parts.length > 0 && { chunks: chunksOf(parts) }),
        ...(feedback !== undefined && { blocks: [feedbackBlock(feedback)] }),
      }),
    );
    return true;
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
    logger.debug({ err: error }, 'stream had ended already');
    // Its end would have set the status of the session.
    await client.agents.sessions
      .setStatus({ channel_id: channel, thread_ts: threadTs, status: posted.session })
      .catch((err: unknown) => logger.debug({ err }, 'status of the session not set'));
  }
  // The message has shown steps only, and they are there.
  if (text === '') return true;
  try {
    const row = { text, feedback, addressees };
    await withTables(partsOf(row), (parts) =>
      client.chat.update({ channel, ts: posted.ts, ...replyContent(row, parts) }),
    );
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

const CutStream = z.object({
  kind: z.literal(CUT_STREAM),
  channel: z.string(),
  threadTs: z.string().optional(),
  /** The message; a row without it tells when the stream was started, if it was. */
  ts: z.string().optional(),
  from: z.number().optional(),
  until: z.number().optional(),
});
type CutStream = z.infer<typeof CutStream>;

/** Ends the streamed message of a process that died, and says so in it. */
async function markCutStream(context: BotContext, item: RowItem): Promise<void> {
  const cut = CutStream.parse(item.body);
  const found = cut.ts === undefined ? await findStreams(context, cut) : [cut.ts];
  for (const ts of found) await endStream(context, cut.channel, ts);
  await context.store.done(item);
}

const Streamed = z.object({ ts: z.string(), bot_id: z.string() });

/**
 * Finds the messages that may be a stream whose start was not answered: those of bots in the window of time, without the mark that every
 * other message of this bot has. Slack ends only a stream that goes on, and only this bot's, so the others stay as they are.
 */
async function findStreams(
  { client, logger }: BotContext,
  { channel, threadTs, from = 0, until = 0 }: CutStream,
): Promise<string[]> {
  if (threadTs === undefined) return [];
  try {
    const { messages = [] } = await client.conversations.replies({
      channel,
      ts: threadTs,
      include_all_metadata: true,
      limit: 200,
      oldest: toTs(from),
      latest: toTs(until),
      inclusive: true,
    });
    return messages.flatMap((message) => {
      const { data } = Streamed.safeParse(message);
      const isInTime = data !== undefined && Number(data.ts) * 1_000 >= from;
      return isInTime && !isMarked(message) ? [data.ts] : [];
    });
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
    logger.debug({ err: error }, 'interrupted stream not found');
    return [];
  }
}

function toTs(ms: number): string {
  return (ms / 1_000).toFixed(6);
}

/** Ends a stream; one that has ended already is left as it is. */
async function endStream({ client, logger }: BotContext, channel: string, ts: string): Promise<void> {
  try {
    const chunks = [{ type: 'markdown_text' as const, text: `\n\n${replyTexts.cutOff}` }];
    await client.chat.stopStream({ channel, ts, chunks });
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
    logger.debug({ err: error }, 'stream had ended already');
  }
}

const Place = { channel: z.string(), threadTs: z.string(), file: z.string(), name: z.string() };
/** A file to upload, and one that is uploaded and has to be shown. */
const FileRow = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), ...Place }),
  z.object({ kind: z.literal('file-share'), ...Place, slackId: z.string() }),
]);
type FileRow = z.infer<typeof FileRow>;

/**
 * Sends a file in two rows. The first uploads the bytes, which shows nobody anything, and records Slack's id in the second. The second
 * shows the file in the thread, unless Slack says that it is there.
 */
async function sendFile(context: BotContext, item: RowItem): Promise<void> {
  const row = FileRow.parse(item.body);
  const threadId = threadIdOf(row);
  try {
    if (row.kind === 'file') await uploadFile(context, item, row);
    else if (item.tries === 0 || !(await isShared(context, row)))
      await shareFile(context, row).catch(async (error: unknown) => {
        // Another sender may have been faster.
        if (judgeSlackFailure(error).kind === 'later' || !(await isShared(context, row))) throw error;
      });
    if (row.kind === 'file-share') await context.store.writeFile(threadId, row.file, undefined);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    if (failure.kind === 'later') throw error;
    context.logger.error({ item: item.item, reason: failure.reason }, 'file dropped');
    context.metrics.count('countersign_messages_dropped_total', {});
    await context.store.enqueueOutbox(threadId, {
      id: `${item.rowId}/not-sent`,
      body: {
        kind: 'plain',
        channel: row.channel,
        threadTs: row.threadTs,
        text: replyTexts.fileNotSent(row.name, failure.reason),
      },
    });
    await context.store.writeFile(threadId, row.file, undefined);
  }
  await context.store.done(item);
}

async function uploadFile(
  { client, store, fileHost, logger }: BotContext,
  { rowId }: RowItem,
  { channel, threadTs, file, name }: FileRow,
): Promise<void> {
  const threadId = threadIdOf({ channel, threadTs });
  const [kept] = await store.readFiles(threadId, [file]);
  if (kept === undefined) {
    logger.error({ row: rowId }, 'file is not kept any more');
    return;
  }
  const length = kept.bytes.length;
  const { upload_url: url, file_id: slackId } = await client.files.getUploadURLExternal({
    filename: name,
    length,
  });
  if (url === undefined || slackId === undefined) throw new Error('Slack gave no address for a file');
  await fileHost.upload(url, kept.bytes);
  await store.enqueueOutbox(threadId, {
    id: `${rowId}/share`,
    body: { kind: 'file-share', channel, threadTs, file, name, slackId },
  });
}

async function shareFile(
  { client }: BotContext,
  { channel, threadTs, name, ...row }: FileRow,
): Promise<void> {
  if (row.kind !== 'file-share') return;
  await client.files.completeUploadExternal({
    files: [{ id: row.slackId, title: name }],
    channel_id: channel,
    thread_ts: threadTs,
  });
}

const Shares = z.record(z.string(), z.record(z.string(), z.array(z.unknown()))).catch({});

/** Asks Slack whether an earlier attempt has shown the file. */
async function isShared({ client }: BotContext, row: FileRow): Promise<boolean> {
  if (row.kind !== 'file-share') return false;
  try {
    const { file } = await client.files.info({ file: row.slackId });
    return Object.values(Shares.parse(file?.shares)).some((places) => row.channel in places);
  } catch (error) {
    if (judgeSlackFailure(error).kind === 'later') throw error;
    // Slack does not know an upload before it is completed.
    return false;
  }
}
