import type { BotContext } from '../context.ts';
import { buildHome } from './build-home.ts';
import { LISTS, type ListName, loadList } from './load-lists.ts';
import { notesFor } from './notes.ts';
import { recentStats } from './policy-stats.ts';

/** Publishes a person's App Home from the current record, with one list turned to a given page. */
export async function showHome(
  context: BotContext,
  userId: string,
  turned?: { readonly list: ListName; readonly from?: string },
): Promise<void> {
  const lists = LISTS.map((name) =>
    loadList(context, userId, name, { from: turned?.list === name ? turned.from : undefined }),
  );
  const isAdmin = context.agent().admins.includes(userId);
  const [pages, stats, notes] = await Promise.all([
    Promise.all(lists),
    isAdmin ? recentStats(context.store) : undefined,
    notesFor(context, userId),
  ]);
  await context.client.views.publish({ user_id: userId, view: buildHome(pages, stats, notes) });
}

/** Refreshes a person's App Home after a decision; a failure does not affect the decision. */
export async function refreshHome(context: BotContext, userId: string): Promise<void> {
  await showHome(context, userId).catch((err: unknown) =>
    context.logger.debug({ userId, err }, 'App Home not refreshed'),
  );
}
