import { hash } from 'node:crypto';
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

/** Builds the direct messages to the admins about a quarantined thread; the same reason is told once. */
export function quarantineRows(admins: readonly string[], threadId: string, reason: string): OutboxRow[] {
  const id = `quarantined/${threadId}/${hash('sha256', reason).slice(0, 16)}`;
  const text = `The thread ${threadId} is quarantined, and I don't continue it. ${reason}\nWhen the cause is removed, run: countersign retry ${threadId}`;
  return adminRows(admins, id, text);
}

/** Tells the admins of a thread whose record cannot be read. */
export async function tellOfQuarantine(
  { store, agent, logger }: Pick<BotContext, 'store' | 'agent' | 'logger'>,
  threadId: string,
  reason: string,
): Promise<void> {
  try {
    for (const row of quarantineRows(agent().admins, threadId, reason))
      await store.enqueueOutbox(threadId, row);
  } catch (err) {
    logger.warn({ threadId, err }, 'admins not told of a quarantined thread');
  }
}
