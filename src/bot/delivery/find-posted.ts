import type { WebClient } from '@slack/web-api';
import { z } from 'zod';

/** What every message of ours carries, so that one whose posting was in doubt can be found again. */
export function messageMark(item: string) {
  return { event_type: 'countersign', event_payload: { item } };
}

const Marked = z.object({ metadata: z.object({ event_payload: z.object({ item: z.string() }) }) });

/** Looks for a message of ours that was posted although Slack's answer never came; a thread is read to its end, where the newest stand. */
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
