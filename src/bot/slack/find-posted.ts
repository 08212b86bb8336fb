import type { WebClient } from '@slack/web-api';
import { z } from 'zod';

/** Builds the metadata of every posted message, by which a message is found again if Slack's answer was lost. */
export function messageMark(item: string) {
  return { event_type: 'countersign', event_payload: { item } };
}

const Marked = z.object({ metadata: z.object({ event_payload: z.object({ item: z.string() }) }) });

/** Tells whether a message has the mark of the messages that this bot has posted. */
export function isMarked(message: unknown): boolean {
  return Marked.safeParse(message).success;
}

/** Finds a message that was posted although Slack's answer was lost. A thread is read to its end, where the newest messages are. */
export async function findPosted(
  client: WebClient,
  item: string,
  { channel, threadTs }: { readonly channel: string; readonly threadTs: string | undefined },
): Promise<string | undefined> {
  const options = { channel, include_all_metadata: true, limit: 200 };
  const isIt = (message: unknown) => Marked.safeParse(message).data?.metadata.event_payload.item === item;
  if (threadTs === undefined) return (await client.conversations.history(options)).messages?.find(isIt)?.ts;
  let cursor: string | undefined;
  do {
    const page = await client.conversations.replies({
      ...options,
      ts: threadTs,
      ...(cursor !== undefined && { cursor }),
    });
    const found = page.messages?.find(isIt);
    if (found !== undefined) return found.ts;
    cursor = page.response_metadata?.next_cursor;
  } while (cursor !== undefined && cursor !== '');
  return undefined;
}
