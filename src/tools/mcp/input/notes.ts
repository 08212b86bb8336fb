/** Sentences for the model about a question that nobody answered. */
export const ENDINGS = {
  expired: 'Nobody answered the server in time; it was told that the question is cancelled.',
  withdrawn: 'The question was withdrawn; the server was told that it is cancelled.',
};

/** Adds sentences for the model to a result. */
export function withNotes(output: unknown, notes: readonly string[]): unknown {
  if (notes.length === 0) return output;
  const lines = notes.map((note) => `[${note}]`);
  if (typeof output === 'string') return [...lines, output].join('\n');
  return { notes: lines, result: output };
}
