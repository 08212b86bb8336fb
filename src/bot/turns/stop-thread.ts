import type { BotContext } from '../context.ts';
import { withdraw } from '../decisions/decide.ts';

/** Stops the running turn of a thread, here or elsewhere, and withdraws this person's open requests. */
export async function stopThread(context: BotContext, threadId: string, who: string): Promise<boolean> {
  const stoppedHere = context.turns.stop(threadId);
  const stopped = await context.store.stop(threadId);
  const withdrawn = await withdrawWaiting(context, threadId, who);
  return stoppedHere || stopped.outcome === 'stopping' || withdrawn;
}

/**
 * Withdraws this person's open requests. With a time, only those that were open then: a copy of a message must not stop what was
 * started after it.
 */
export async function withdrawWaiting(
  context: BotContext,
  threadId: string,
  who: string,
  askedBefore = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { store } = context;
  const withdrawn = await Promise.all(
    (await store.waitingIn(threadId)).map(async (requestId) => {
      if (askedBefore !== Number.POSITIVE_INFINITY) {
        const loaded = await store.load(requestId);
        if (loaded.outcome !== 'found' || loaded.request.createdAt > askedBefore) return false;
      }
      return (await withdraw(context, requestId, { who, id: `stop ${threadId}` })) === undefined;
    }),
  );
  return withdrawn.includes(true);
}
