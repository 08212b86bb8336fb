const mark = Symbol.for('countersign.outcome-unknown');

/** Marks the error of a call that was made and of which nobody knows what became: it is no failure, and people are asked. */
export function outcomeUnknown<Marked extends Error>(error: Marked): Marked {
  Object.defineProperty(error, mark, { value: true });
  return error;
}

export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof Error && mark in error;
}
