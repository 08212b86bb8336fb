import type { BotParts } from './bot-parts.ts';
import { withdraw } from './decisions/decide.ts';

/** Stops what goes on in a thread: the running turn, here or elsewhere, and whatever this person asked for and still waits. */
export async function stopThread(parts: BotParts, threadId: string, who: string): Promise<boolean> {
  const stoppedHere = parts.turns.stop(threadId);
  const stopped = await parts.store.stop(threadId);
  const waiting = await parts.store.waitingIn(threadId);
  const withdrawn = await Promise.all(
    waiting.map(
      async (requestId) => (await withdraw(parts, requestId, { who, id: `stop ${threadId}` })) === undefined,
    ),
  );
  return stoppedHere || stopped.outcome === 'stopping' || withdrawn.includes(true);
}
