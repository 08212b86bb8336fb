/** The first wait before a retry, and the longest one. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Returns the wait after a number of failures in a row. It doubles up to the longest wait, and chance shortens it by up to half,
 * so that many clients do not retry at the same moment.
 */
export function backOffMs(
  failures: number,
  { firstMs, longestMs }: BackOffLimits,
  random: () => number = Math.random,
): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return Math.round(full * (1 - random() / 2));
}
