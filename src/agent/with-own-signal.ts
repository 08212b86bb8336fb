import { setMaxListeners } from 'node:events';

/**
 * Works under a signal that follows the caller's and lets go of it in the end: many calls listen at once, and the
 * `openai` client leaves its listeners behind, which on a signal that lives as long as the process would pile up.
 */
export async function withOwnSignal<Result>(
  signal: AbortSignal | undefined,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const follow = () => own.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow, { once: true });
  try {
    return await work(own.signal);
  } finally {
    signal?.removeEventListener('abort', follow);
  }
}
