import { grantsFor } from '../asks/grants.ts';
import { delegationsFor, loadAccounts, loadList, notesFor } from '../asks/load-lists.ts';
import type { BotContext } from '../context.ts';
import { buildHome } from '../views/home/build-home.ts';
import { LISTS, type ListName } from '../views/texts/home.ts';
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
  const { approvers, quorum } = context.agent().unfreeze;
  const [pages, stats, { freezes }, grants, delegations, accounts, notes] = await Promise.all([
    Promise.all(lists),
    isAdmin ? recentStats(context.store) : undefined,
    context.store.readFreezes(),
    grantsFor(context, userId),
    delegationsFor(context, userId),
    loadAccounts(context, userId),
    notesFor(context, userId),
  ]);
  const mayUnfreeze =
    freezes.length > 0 && (await context.directory.isAmong(userId, approvers).catch(() => false));
  const view = buildHome(pages, {
    ...{ stats, grants, accounts, freezes, notes },
    delegations: { reader: userId, list: delegations },
    unfreeze: { quorum, isOffered: mayUnfreeze },
  });
  await context.client.views.publish({ user_id: userId, view });
}

/** Refreshes a person's App Home after a decision; a failure does not affect the decision. */
export async function refreshHome(context: BotContext, userId: string): Promise<void> {
  await showHome(context, userId).catch((err: unknown) =>
    context.logger.debug({ userId, err }, 'App Home not refreshed'),
  );
}
