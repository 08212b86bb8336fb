import { hash } from 'node:crypto';
import type { OutboxRow } from '../../store/port/values.ts';
import type { UnlockedTool } from '../../tools/toolbox/open-toolbox.ts';
import type { BotContext } from '../context.ts';
import { adminTexts } from '../views/texts/notices.ts';

/** A message to every admin. The id tells a repeated message from a new one. */
export interface AdminNotice {
  readonly id: string;
  readonly text: string;
  /** A notice is our own mrkdwn, and plain has untrusted text in it. */
  readonly kind: 'notice' | 'plain';
}

/** Builds one direct message to each admin. */
export function adminRows(admins: readonly string[], { id, text, kind }: AdminNotice): OutboxRow[] {
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

/** The part of the bot that tells admins of something beside its work. */
type Teller = Pick<BotContext, 'agent' | 'store' | 'logger'>;

/** Tells the admins if it can: what the notice is about goes on all the same. */
async function tryToTell(context: Teller, about: string, notice: AdminNotice): Promise<void> {
  await tellAdmins(context, about, notice).catch((err) =>
    context.logger.error({ err, about, notice: notice.id }, 'admins not told'),
  );
}

/** Tells the admins of definitions that nobody has locked, once for each definition. */
export async function tellOfUnlocked(context: Teller, unlocked: readonly UnlockedTool[]): Promise<void> {
  for (const { server, tool, digest, problem } of unlocked)
    await tryToTell(context, `admins:${server}`, {
      id: `unlocked/${server}/${tool}/${digest}`,
      text: problem,
      kind: 'plain',
    });
}

/** Tells the admins that the audit log is not signed any more, once for each reason and each checkpoint that was signed last. */
export function tellOfAudit(
  context: Teller,
  { code, checkpoint }: { readonly code: string; readonly checkpoint: number },
): Promise<void> {
  return tryToTell(context, 'admins:audit', {
    id: `audit/${code}/${checkpoint}`,
    text: adminTexts.auditNotSigned(code, checkpoint),
    kind: 'notice',
  });
}

/** Tells the admins that Redis refuses writes, once for each code and hour. The row is stored although Redis is full. */
export function tellOfRefusedWrites(context: Teller, code: string, hour: number): Promise<void> {
  return tryToTell(context, 'admins:record', {
    id: `record/${code}/${hour}`,
    text: adminTexts.writesRefused(code),
    kind: 'notice',
  });
}

/** A sink that is restarted fails a round. */
const FAILURES_TO_TELL = 2;

/** Tells the admins that the audit log is not exported, once for each row at which it stopped. */
export async function tellOfExport(
  context: Teller,
  failure: { readonly sink: 'file' | 'http'; readonly failures: number; readonly seq: number },
): Promise<void> {
  const { sink, failures, seq } = failure;
  if (failures !== FAILURES_TO_TELL) return;
  await tryToTell(context, 'admins:audit', {
    id: `export/${sink}/${seq}`,
    text: adminTexts.auditNotExported(sink),
    kind: 'notice',
  });
}

/** Returns the notice of a quarantined thread; the same reason is told once. */
export function quarantineNotice(threadId: string, reason: string): AdminNotice {
  return {
    id: `quarantined/${threadId}/${hash('sha256', reason).slice(0, 16)}`,
    text: adminTexts.quarantined(threadId, reason),
    kind: 'plain',
  };
}
