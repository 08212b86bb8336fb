import { hash } from 'node:crypto';
import type { OutboxRow } from '../../store/port/store.ts';
import type { UnlockedTool } from '../../tools/toolbox/open-toolbox.ts';
import type { BotContext } from '../context.ts';
import { adminTexts } from '../texts/admins.ts';

/** A message to every admin. The id tells a repeated message from a new one. */
export interface AdminNotice {
  readonly id: string;
  readonly text: string;
  /** A notice is our own mrkdwn, and plain has untrusted text in it. */
  readonly kind: 'notice' | 'plain';
}

/** Builds one direct message to each admin. */
function adminRows(admins: readonly string[], { id, text, kind }: AdminNotice): OutboxRow[] {
  return admins.map((user) => ({ id: `${id}/${user}`, body: { kind, user, text } }));
}

/** Sends a direct message to every admin. Notices with one `about` and one `id` are sent once, by whichever process. */
export async function tellAdmins(
  { agent, store }: Pick<BotContext, 'agent' | 'store'>,
  about: string,
  notice: AdminNotice,
): Promise<void> {
  for (const row of adminRows(agent().admins, notice)) await store.enqueueOutbox(about, row);
}

/** Tells the admins of definitions that nobody has locked, once for each definition. */
export async function tellOfUnlocked(
  { store, agent, logger }: Pick<BotContext, 'store' | 'agent' | 'logger'>,
  unlocked: readonly UnlockedTool[],
): Promise<void> {
  try {
    for (const { server, tool, digest, problem } of unlocked)
      await tellAdmins({ agent, store }, `admins:${server}`, {
        id: `unlocked/${server}/${tool}/${digest}`,
        text: problem,
        kind: 'plain',
      });
  } catch (err) {
    logger.warn({ err }, 'admins not told of unlocked tools');
  }
}

/** Builds the direct messages to the admins about a quarantined thread; the same reason is told once. */
export function quarantineRows(admins: readonly string[], threadId: string, reason: string): OutboxRow[] {
  const id = `quarantined/${threadId}/${hash('sha256', reason).slice(0, 16)}`;
  const text = adminTexts.quarantined(threadId, reason);
  return adminRows(admins, { id, text, kind: 'plain' });
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
