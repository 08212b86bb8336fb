/** Returns the text of an error, without its stack. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
