import type { BlockAction, RespondFn } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';

/** Sends one sentence to one person: privately where they clicked a message, otherwise in their direct messages. */
export async function tellPrivately(
  where: {
    readonly respond: RespondFn;
    readonly client: WebClient;
    readonly body: Pick<BlockAction, 'user' | 'container' | 'view'>;
  },
  text: string,
): Promise<void> {
  if (where.body.view === undefined && where.body.container.type === 'message') {
    await where.respond({ response_type: 'ephemeral', replace_original: false, text });
    return;
  }
  await where.client.chat.postMessage({ channel: where.body.user.id, text });
}
