import { canShowWords } from '../../engine/facets/since.ts';
import type { BotContext } from '../context.ts';

/** Draws the cards of what waits for a person's sake again, because what they have written since has changed; returns how many. */
export async function redrawWithWords(
  { store }: Pick<BotContext, 'store'>,
  threadId: string,
  user: string,
  cause: string,
): Promise<number> {
  let waiting = 0;
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome !== 'found' || !canShowWords(loaded.request)) continue;
    if (!loaded.request.requesters.includes(user)) continue;
    await store.redraw(requestId, { cause: `words ${cause}` });
    waiting += 1;
  }
  return waiting;
}
