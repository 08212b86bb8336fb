/** The word of a person about one answer of the agent. */
export interface Feedback {
  readonly threadId: string;
  /** The id of the answer, unique in its thread. */
  readonly answer: string;
  readonly person: string;
  readonly verdict: 'good' | 'bad';
}

/** A short note about a channel, which the agent has written down for later tasks. */
export interface ChannelNote {
  /** The same for every copy of the note. */
  readonly id: string;
  readonly text: string;
  /** The people for whom the agent worked when it wrote the note. */
  readonly people: readonly string[];
}

export interface KeptNote extends ChannelNote {
  readonly channel: string;
  readonly at: number;
}

/** The feedback of people on answers, and the notes about channels. */
export interface MemoryStore {
  /** Records what a person thinks of an answer; a later word replaces the earlier one. */
  giveFeedback(feedback: Feedback): Promise<{ readonly outcome: 'recorded' | 'unknown-thread' }>;
  /** Lists all feedback of the threads that are still kept. */
  listFeedback(): Promise<readonly Feedback[]>;
  /** Removes what a person thinks of answers; returns the number of answers. */
  eraseFeedback(person: string): Promise<number>;

  /** Keeps a note, once, unless the channel has `most` already. */
  remember(
    channel: string,
    note: ChannelNote,
    most: number,
  ): Promise<{ readonly outcome: 'remembered' | 'full' }>;
  /** Lists the notes about a channel, oldest first. */
  recall(channel: string): Promise<readonly KeptNote[]>;
  /** Removes notes about a channel. */
  forget(channel: string, ids: readonly string[]): Promise<void>;
  /** Lists the notes of all channels. */
  listNotes(): Promise<readonly KeptNote[]>;
}
