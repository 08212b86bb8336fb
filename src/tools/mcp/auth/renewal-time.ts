const MARGIN_MS = 60_000;
const DEFAULT_SECONDS = 3600;

/** Returns when a token ends, and when it is renewed: a minute before, or at half of a short life. */
export function renewalTime(
  seconds = DEFAULT_SECONDS,
  now = Date.now(),
): { renewAt: number; endsAt: number } {
  const lifeMs = seconds * 1000;
  return { renewAt: now + Math.max(lifeMs - MARGIN_MS, lifeMs / 2), endsAt: now + lifeMs };
}
