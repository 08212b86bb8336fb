import type { BotParts } from '../bot-parts.ts';
import { buildHome } from './build-home.ts';
import { LISTS, type ListName, loadList } from './load-lists.ts';

/** Publishes somebody's App Home as the record is now, with one list turned to a page where that is asked for. */
export async function showHome(
  parts: BotParts,
  userId: string,
  turned?: { readonly list: ListName; readonly from?: string },
): Promise<void> {
  const lists = LISTS.map((name) =>
    loadList(parts, userId, name, { from: turned?.list === name ? turned.from : undefined }),
  );
  await parts.client.views.publish({ user_id: userId, view: buildHome(await Promise.all(lists)) });
}

/** Shows somebody's App Home after a decision of theirs; where it cannot be shown, the decision stands all the same. */
export async function refreshHome(parts: BotParts, userId: string): Promise<void> {
  await showHome(parts, userId).catch((err: unknown) =>
    parts.logger.debug({ userId, err }, 'an App Home was not refreshed'),
  );
}
