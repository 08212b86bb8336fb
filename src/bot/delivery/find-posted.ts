import type { WebClient } from '@slack/web-api';
import { z } from 'zod';

/** What every message of ours carries, so that one whose posting was in doubt can be found again. */
export function messageMark(item: string) {
  return { event_type: 'countersign', event_payload: { item } };
}

const Marked = z.object({ metadata: z.object({ event_payload: z.object({ item: z.string() }) }) });

/** Looks for a message of ours that was posted although Slack's answer never came. */
export async function findPosted(
  client: WebClient,
  item: string,
  { channel, threadTs }: { readonly channel: string; readonly threadTs: string | undefined },
): Promise<string | undefined> {
  const options = { channel, include_all_metadata: true, limit: 100 };
  const { messages = [] } = await (threadTs === undefined
    ? client.conversations.history(options)
    : client.conversations.replies({ ...options, ts: threadTs }));
  return messages.find((message) => Marked.safeParse(message).data?.metadata.event_payload.item === item)?.ts;
}
