import type { BotParts } from './bot-parts.ts';
import { withdraw } from './decisions/decide.ts';

/** Stops what goes on in a thread: the running turn, here or elsewhere, and whatever this person asked for and still waits. */
export async function stopThread(parts: BotParts, threadId: string, who: string): Promise<boolean> {
  const stoppedHere = parts.turns.stop(threadId);
  const stopped = await parts.store.stop(threadId);
  const withdrawn = await withdrawWaiting(parts, threadId, who);
  return stoppedHere || stopped.outcome === 'stopping' || withdrawn;
}

/**
 * Withdraws what this person asked for and still waits. With a time, only what waited then: a copy of what somebody said must
 * not stop what was begun since.
 */
export async function withdrawWaiting(
  parts: BotParts,
  threadId: string,
  who: string,
  askedBefore = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { store } = parts;
  const withdrawn = await Promise.all(
    (await store.waitingIn(threadId)).map(async (requestId) => {
      if (askedBefore !== Number.POSITIVE_INFINITY) {
        const loaded = await store.load(requestId);
        if (loaded.outcome !== 'found' || loaded.request.createdAt > askedBefore) return false;
      }
      return (await withdraw(parts, requestId, { who, id: `stop ${threadId}` })) === undefined;
    }),
  );
  return withdrawn.includes(true);
}
