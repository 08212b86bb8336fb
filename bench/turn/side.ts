/** One way to do the work of the bench: a turn that pauses at a call, and its continuation elsewhere. */
export interface Side {
  /** Gives a thread its history, by whatever way is fast. */
  fill(threadId: string, messages: number): Promise<void>;
  /** Somebody speaks; the model calls a tool; the call is held back and the state is in Redis. */
  pause(threadId: string): Promise<void>;
  /** What a click would carry; it is looked up before the clock runs. */
  handleOf(threadId: string): Promise<string>;
  /** The call is approved and runs; the model goes on to its end; the state is in Redis. */
  resume(handle: string): Promise<void>;
  /** What waits to be shown in Slack is shown, so that a paused thread only waits. */
  deliver(): Promise<void>;
  close(): Promise<void>;
}

export interface SideOptions {
  readonly redisUrl: string;
  readonly modelUrl: string;
  readonly tools: number;
}

/** What the tool of the bench does, on every side. */
export function refund(order: string, amount: number): { readonly refunded: number; readonly order: string } {
  return { refunded: amount, order };
}

export const SAID = 'Please refund order A-1001; it arrived damaged and the customer is waiting.';
