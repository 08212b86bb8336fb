import type { OutboxRow } from '../../store/port/store.ts';
import type { UnlockedTool } from '../../tools/toolbox/open-toolbox.ts';
import type { BotContext } from '../context.ts';

/** Builds one direct message to each admin. The id tells a repeated message from a new one. */
export function adminRows(admins: readonly string[], id: string, text: string): OutboxRow[] {
  return admins.map((user) => ({ id: `${id}/${user}`, body: { kind: 'plain', user, text } }));
}

/** Tells the admins of definitions that nobody has locked, once for each definition. */
export async function tellOfUnlocked(
  { store, agent, logger }: Pick<BotContext, 'store' | 'agent' | 'logger'>,
  unlocked: readonly UnlockedTool[],
): Promise<void> {
  try {
    for (const { server, tool, digest, problem } of unlocked)
      for (const row of adminRows(agent().admins, `unlocked/${server}/${tool}/${digest}`, problem))
        await store.enqueueOutbox(`admins:${server}`, row);
  } catch (err) {
    logger.warn({ err }, 'admins not told of unlocked tools');
  }
}
