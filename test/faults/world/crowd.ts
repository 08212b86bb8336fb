import { setTimeout as sleep } from 'node:timers/promises';
import type { Workspace } from '../../../playground/slack/workspace.ts';
import type { ShownCard } from './cards.ts';
import { RULES } from './cast.ts';
import type { Errand } from './errand.ts';

/** A part of the crowd rejects: more could not be approved, fewer would seldom win. */
const REJECTING = 0.2;
/** The time before the expiry in which a crowd clicks; on a busy machine the clicks are recorded much later. */
const BEFORE_THE_END_MS = [0, 250, 500, 4_000];

/** All of a crowd decide in the same millisecond: most approve, some send the reason for which they reject. */
export async function decideTogether(workspace: Workspace, errand: Errand, card: ShownCard): Promise<void> {
  const rule = RULES[errand.calls[0]?.tool ?? ''];
  if (rule === undefined) return;
  const shuffled = rule.signers.toSorted(() => Math.random() - 0.5);
  const rejecting = Math.random() < 0.5 ? shuffled.slice(0, Math.ceil(shuffled.length * REJECTING)) : [];
  const approving = shuffled.filter((who) => !rejecting.includes(who));
  const modals = await Promise.all(rejecting.map((who) => openRejection(workspace, who, card)));
  if (errand.intent === 'crowd-at-expiry') await sleep(untilTheEnd(card, rule.expiresMs));
  await Promise.allSettled([
    ...approving.map((who) => workspace.as(who).click(card, 'approve', { force: true })),
    ...modals.map(async ({ who, viewId }) => {
      if (viewId !== undefined) await workspace.as(who).submit(viewId, { reason: 'not like this' });
    }),
  ]);
}

async function openRejection(workspace: Workspace, who: string, card: ShownCard) {
  try {
    const before = workspace.modalOf(who);
    await workspace.as(who).click(card, 'reject');
    const opened = await workspace.until(
      () => {
        const modal = workspace.modalOf(who);
        return modal?.id === before?.id ? undefined : modal;
      },
      { timeoutMs: 1_500 },
    );
    return { who, viewId: opened.id };
  } catch {
    return { who, viewId: undefined };
  }
}

/** The card was posted a moment after the time began. */
function untilTheEnd(card: ShownCard, expiresMs: number): number {
  const before = BEFORE_THE_END_MS[Math.floor(Math.random() * BEFORE_THE_END_MS.length)] ?? 0;
  const aside = Math.random() * 250 - before;
  return Math.max(0, Number(card.ts) * 1_000 + expiresMs + aside - Date.now());
}
