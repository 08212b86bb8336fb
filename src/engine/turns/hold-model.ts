import { THE_MODEL } from '../../store/port/workspace.ts';
import { type TurnContext, tell } from './turn-context.ts';

/** Tells whether a freeze keeps the model from being called, and then tells the thread, once for each freeze. */
export async function isModelHeld(
  context: Pick<TurnContext, 'store' | 'messages'>,
  threadId: string,
): Promise<boolean> {
  const { freezes } = await context.store.readFreezes();
  const freeze = freezes.find(({ scope }) => scope === THE_MODEL);
  if (freeze === undefined) return false;
  await tell(context, threadId, { code: 'model-held', freeze });
  return true;
}
