import { THE_MODEL } from '../../store/port/workspace.ts';
import type { BotContext } from '../context.ts';
import { placeIn } from '../slack/thread.ts';
import { freezeTexts } from '../views/texts/freezes.ts';

/** Tells whether a freeze keeps the model from being called, and then tells the thread, once for each freeze. */
export async function isModelHeld({ store }: Pick<BotContext, 'store'>, threadId: string): Promise<boolean> {
  const { freezes } = await store.readFreezes();
  const freeze = freezes.find(({ scope }) => scope === THE_MODEL);
  if (freeze === undefined) return false;
  await store.enqueueOutbox(threadId, {
    id: `${threadId}/held/${freeze.id}`,
    body: { kind: 'plain', ...placeIn(threadId), text: freezeTexts.modelHeld(freeze) },
  });
  return true;
}
