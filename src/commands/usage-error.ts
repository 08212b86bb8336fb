/** The command line was not understood; the message says which part, and nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
