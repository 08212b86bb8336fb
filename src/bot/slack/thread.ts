import type { WebClient } from '@slack/web-api';

/** A Slack thread: one conversation of the bot. */
export interface SlackThread {
  readonly channel: string;
  readonly threadTs: string;
}

export function threadIdOf({ channel, threadTs }: SlackThread): string {
  return `${channel}:${threadTs}`;
}

export function parseThreadId(threadId: string): SlackThread {
  const [channel = '', threadTs = ''] = threadId.split(':');
  return { channel, threadTs };
}

/** Tells whether a conversation is in the direct messages of one person, which nobody else can open. */
export function isDirectChannel(threadId: string): boolean {
  return threadId.startsWith('D');
}

/** Slack's own ids of messages are numbers. */
const SLACK_TS = /^\d/;

/** Returns the place of a message: in its thread, or in its channel where Slack has no thread for it and its card stands alone. */
export function placeIn(threadId: string): { readonly channel: string; readonly threadTs?: string } {
  const { channel, threadTs } = parseThreadId(threadId);
  return SLACK_TS.test(threadTs) ? { channel, threadTs } : { channel };
}

/** A message of a thread. */
interface ThreadMessage {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string;
}

/**
 * Finds links to messages of threads. Slack is asked until an answer has the form that is known here; from then on links are built
 * from the workspace's address, so that a card costs no call for its link.
 */
export class MessageLinks {
  readonly #client: WebClient;
  #workspace: string | undefined;

  constructor(client: WebClient) {
    this.#client = client;
  }

  /** Returns the link to a message; `undefined` if Slack gives none. */
  async linkTo(message: ThreadMessage): Promise<string | undefined> {
    const path = pathOf(message);
    if (this.#workspace !== undefined && path !== undefined) return `${this.#workspace}${path}`;
    const { channel, ts: message_ts } = message;
    const { permalink } = await this.#client.chat
      .getPermalink({ channel, message_ts })
      .catch(() => ({ permalink: undefined }));
    if (path !== undefined && permalink?.endsWith(path) === true)
      this.#workspace = permalink.slice(0, -path.length);
    return permalink;
  }
}

/** The form of a link to a reply; the first message of a thread has another one. */
function pathOf({ channel, ts, threadTs }: ThreadMessage): string | undefined {
  if (ts === threadTs) return undefined;
  return `/archives/${channel}/p${ts.replace('.', '')}?thread_ts=${threadTs}&cid=${channel}`;
}
