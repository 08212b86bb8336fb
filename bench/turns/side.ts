/** One implementation of the measured work: a turn that pauses at a call, and its continuation in another process. */
export interface Side {
  /** Gives a thread a history of this many messages. */
  fill(threadId: string, messages: number): Promise<void>;
  /** Takes a message; the model calls a tool; the call is held and the state is in Redis. */
  pause(threadId: string): Promise<void>;
  /** Returns what a click on the card would carry. */
  findRequest(threadId: string): Promise<string>;
  /** Approves and runs the call; the model answers; the state is in Redis. */
  resume(request: string): Promise<void>;
}
