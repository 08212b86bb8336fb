/** What Slack's client would tell the person, where that differs from what a test needs to know. */
export interface NotPossibleDetails {
  shown?: string;
  /** The input it is about, by the id of its block. */
  blockId?: string;
}

/** Something a person cannot do in Slack: `message` says why to a developer, `shown` says it to the person. */
export class NotPossible extends Error {
  override readonly name = 'NotPossible';
  readonly shown: string;
  readonly blockId: string | undefined;

  constructor(message: string, { shown = message, blockId }: NotPossibleDetails = {}) {
    super(message);
    this.shown = shown;
    this.blockId = blockId;
  }
}
