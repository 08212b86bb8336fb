import type { Message } from './types.ts';

/** Every message of the workspace in the order it was posted, found by its time and by its thread. */
export class MessageLog {
  readonly all: Message[] = [];
  readonly #byTs = new Map<string, Message>();
  /** By channel and thread; the main line of a channel has no thread. */
  readonly #byThread = new Map<string, Message[]>();

  add(message: Message): void {
    const { channel, ts, thread_ts } = message;
    this.all.push(message);
    this.#byTs.set(keyOf(channel, ts), message);
    const thread = keyOf(channel, thread_ts);
    const before = this.#byThread.get(thread);
    if (before === undefined) this.#byThread.set(thread, [message]);
    else before.push(message);
  }

  find(channel: string, ts: string): Message | undefined {
    const message = this.#byTs.get(keyOf(channel, ts));
    return message?.deleted === true ? undefined : message;
  }

  /** The replies to a message, or without one the main line of the channel, oldest first. */
  repliesTo(channel: string, threadTs?: string): Message[] {
    return (this.#byThread.get(keyOf(channel, threadTs)) ?? []).filter(({ deleted }) => !deleted);
  }
}

function keyOf(channel: string, ts: string | undefined): string {
  return `${channel}:${ts ?? ''}`;
}
