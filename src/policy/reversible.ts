/** Whether what a call did can be taken back: at any time, by its declared undo for a while, or not at all. The last is the worst. */
export const REVERSIBLE = ['yes', 'undo', 'no'] as const;
export type Reversible = (typeof REVERSIBLE)[number];

/** The facts about a tool that say whether its calls can be taken back. Hints of a server are none of them. */
export interface ReversibleFacts {
  /** The word of the manifest. */
  readonly declared?: Reversible | undefined;
  /** Whether the manifest or the module names the call that takes one back. */
  readonly hasUndo: boolean;
  /** Whether the manifest or the module says that it only reads, so that it leaves nothing to take back. */
  readonly onlyReads: boolean;
}

/** Tells whether the calls of a tool can be taken back. "undo" without an undo is nobody's promise, so it counts as "no". */
export function reversibleBy({ declared, hasUndo, onlyReads }: ReversibleFacts): Reversible {
  if (declared === 'undo') return hasUndo ? 'undo' : 'no';
  return declared ?? (onlyReads ? 'yes' : hasUndo ? 'undo' : 'no');
}

/** Tells whether one call, or every step of several, can be taken back: the worst of them counts, and a tool that is gone is the worst. */
export function reversibilityOf(
  ...tools: readonly ({ readonly reversible: Reversible } | undefined)[]
): Reversible {
  const found = tools.map((tool) => tool?.reversible ?? 'no');
  return REVERSIBLE.findLast((each) => found.includes(each)) ?? 'no';
}
