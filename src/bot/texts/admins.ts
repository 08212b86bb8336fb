const NOT_APPLIED: Readonly<Record<string, string>> = {
  rejected: 'it was rejected',
  expired: 'nobody decided in time',
  asked: 'nobody could be asked',
};

/** Every sentence that only admins are told; those about the manifest are with the notices. */
export const adminTexts = {
  quarantined: (threadId: string, reason: string) =>
    `The thread ${threadId} is quarantined, so I don't continue it. ${reason}\nWhen the cause is fixed, run: countersign retry ${threadId}`,
  turnFailed: (problem: string) => `The turn failed: ${problem}`,
  budgetOwner: {
    thread: (threadId: string) => `the thread ${threadId}`,
    person: (person: string) => `<@${person}>`,
    bot: () => 'the whole bot',
  },
  budget: (owner: string, spent: number, limit: number) =>
    `The token budget of ${owner} for today is at ${Math.floor((100 * spent) / limit)}% (${spent} of ${limit}).`,
  /** A change of the policies ended without being applied. */
  changeNotApplied: (state: string) =>
    `The changed manifest.yml weakens rules and was not applied: ${NOT_APPLIED[state] ?? 'it failed'}. The previous version stays active.`,
  modelNeedsAttention: (problem: string, reference: string) =>
    `The model needs attention. ${problem} (reference ${reference})`,
} as const;
