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

/** Slack's own ids of messages are numbers. */
const OWN_NAME = /^[a-z]/;

/** Builds the id of a conversation that has no thread of its own in Slack: its card stands alone in a channel. */
export function unthreadedId(channel: string, name: string): string {
  return threadIdOf({ channel, threadTs: name });
}

/** Tells whether a conversation has no thread of its own in Slack. */
export function isUnthreaded(threadId: string): boolean {
  return OWN_NAME.test(parseThreadId(threadId).threadTs);
}

/** Returns the place of a message of a conversation: in its thread, or in its channel where it has none. */
export function placeIn(threadId: string): { readonly channel: string; readonly threadTs?: string } {
  const thread = parseThreadId(threadId);
  return isUnthreaded(threadId) ? { channel: thread.channel } : thread;
}
