/** Who signs, how many of them, and within what time. */
export interface Policy {
  readonly name: string;
  /** Ids of people (`U…`) and user groups (`S…`). */
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** Whether one rejection decides; otherwise as many as the quorum. */
  readonly veto: boolean;
  readonly selfApproval: boolean;
  readonly expiresMs: number;
  readonly remindMs: number | undefined;
  readonly escalate: { readonly afterMs: number; readonly to: readonly string[] } | undefined;
  /** Channels where the card stands as well; who may sign is another matter. */
  readonly announce: readonly string[];
  /** Whether each approver gets the card as a direct message. */
  readonly directMessages: boolean;
  /** Whether the button itself asks once more. */
  readonly confirm: boolean;
  readonly risk: 'low' | 'medium' | 'high';
  /** Who may say what became of an action whose outcome is unknown; the approvers unless others are named. */
  readonly resolvers: readonly string[];
}
