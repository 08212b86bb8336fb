import { parseCallerThread } from '../../engine/caller-threads.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { BotContext } from '../context.ts';
import { type SlackThread, threadIdOf } from '../slack/thread.ts';

const CARDS = 'caller-card';
const KEPT_MS = 30 * 86_400_000;

/** Remembers the thread in Slack that the card of a caller begins, so that what people write there reaches the caller. */
export async function followWords(
  { store }: Pick<BotContext, 'store'>,
  { threadId }: Pick<RequestRecord, 'threadId'>,
  { channel, ts }: { readonly channel: string; readonly ts: string },
): Promise<void> {
  if (parseCallerThread(threadId) === undefined) return;
  const place = threadIdOf({ channel, threadTs: ts });
  await store.writeDocument(CARDS, place, { version: threadId, value: '' }, { forMs: KEPT_MS });
}

/** Finds the thread of the caller whose card begins a thread in Slack; `undefined` if no caller's does. */
export async function callerThreadBelow(
  { store, toolbox }: Pick<BotContext, 'store' | 'toolbox'>,
  thread: SlackThread,
): Promise<string | undefined> {
  if (toolbox.callers().size === 0) return undefined;
  return (await store.readDocument(CARDS, threadIdOf(thread)))?.version;
}
