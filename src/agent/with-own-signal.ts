import { setMaxListeners } from 'node:events';

/** Signals that were made for one piece of work and are gone with it. */
const shortLived = new WeakSet<AbortSignal>();

/** Makes a controller for one piece of work: many calls may listen to its signal at once, and it takes them all with it. */
export function ownController(): AbortController {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  shortLived.add(own.signal);
  return own;
}

/**
 * Works under a signal that follows the caller's and lets go of it in the end: many calls listen at once, and the
 * `openai` client leaves its listeners behind, which on a signal that lives as long as the process would pile up.
 */
export async function withOwnSignal<Result>(
  signal: AbortSignal | undefined,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (signal !== undefined && shortLived.has(signal)) return work(signal);
  const own = ownController();
  const follow = () => own.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow, { once: true });
  try {
    return await work(own.signal);
  } finally {
    signal?.removeEventListener('abort', follow);
  }
}
