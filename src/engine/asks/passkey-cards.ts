import type { EngineContext } from '../ports.ts';
import { type Lists, loadList } from './load-lists.ts';

/** The most cards that a change of somebody's keys draws again; the others follow with their next change. */
const MOST = 20;

/** Draws the cards that wait for a person's passkey again: what they say of keys has changed. */
export async function redrawForKeys(
  context: Lists & Pick<EngineContext, 'store'>,
  who: string,
  cause: string,
): Promise<void> {
  const { requests } = await loadList(context, who, 'waiting', { limit: MOST });
  for (const { id, state, policy } of requests)
    if (state === 'pending' && policy.passkey === true) await context.store.redraw(id, { cause });
}
