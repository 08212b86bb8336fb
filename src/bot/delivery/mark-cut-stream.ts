import { z } from 'zod';
import type { OutboxItem } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { CUT_STREAM } from '../reply/stream-watch.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { replyTexts } from '../texts/replies.ts';
import { isMarked } from './find-posted.ts';

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

/** Ends the streamed message of a process that died, and says so in it, if the row tells of one. */
export async function markCutStream(
  context: BotContext,
  item: OutboxItem & { kind: 'row' },
): Promise<boolean> {
  const cut = CutStream.safeParse(item.body).data;
  if (cut === undefined) return false;
  const found = cut.ts === undefined ? await findStreams(context, cut) : [cut.ts];
  for (const ts of found) await endStream(context, cut.channel, ts);
  await context.store.doneRow(item);
  return true;
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
      ...{ channel, ts: threadTs, include_all_metadata: true, limit: 200 },
      ...{ oldest: toTs(from), latest: toTs(until), inclusive: true },
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
