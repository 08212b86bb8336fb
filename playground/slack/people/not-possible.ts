/** The text for the person, where it differs from the developer's message. */
export interface NotPossibleDetails {
  shown?: string;
  /** The block id of the input that is wrong. */
  blockId?: string;
}

/** An action that is impossible in Slack: `message` is for a developer, `shown` for the person. */
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
