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
