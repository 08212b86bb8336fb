/** A command cannot continue; the message is one sentence for the person at the terminal. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** The command line is wrong; the message says which part, and nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
