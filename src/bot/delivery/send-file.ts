import { z } from 'zod';
import type { OutboxItem } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';
import { fileTexts } from '../texts/files.ts';

const Place = { channel: z.string(), threadTs: z.string(), file: z.string(), name: z.string() };
/** A file to upload, and one that is uploaded and has to be shown. */
const FileRow = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), ...Place }),
  z.object({ kind: z.literal('file-share'), ...Place, slackId: z.string() }),
]);
type FileRow = z.infer<typeof FileRow>;

type RowItem = OutboxItem & { kind: 'row' };

/**
 * Sends a file in two rows. The first uploads the bytes, which shows nobody anything, and records Slack's id in the second. The second
 * shows the file in the thread, unless Slack says that it is there. Returns `false` for any other row.
 */
export async function sendFile(context: BotContext, item: RowItem): Promise<boolean> {
  const row = FileRow.safeParse(item.body).data;
  if (row === undefined) return false;
  const threadId = threadIdOf(row);
  try {
    if (row.kind === 'file') await uploadFile(context, item, row);
    else if (item.tries === 0 || !(await isShared(context, row)))
      await shareFile(context, row).catch(async (error: unknown) => {
        // Another sender may have been faster.
        if (judgeSlackFailure(error).kind === 'later' || !(await isShared(context, row))) throw error;
      });
    if (row.kind === 'file-share') await context.store.dropFile(threadId, row.file);
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
        text: fileTexts.notSent(row.name, failure.reason),
      },
    });
    await context.store.dropFile(threadId, row.file);
  }
  await context.store.doneRow(item);
  return true;
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
