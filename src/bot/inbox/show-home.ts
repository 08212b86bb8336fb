import { grantsFor } from '../../engine/asks/grants.ts';
import { delegationsFor, LISTS, loadList, PAGE_SIZE, SHORT_PAGE_SIZE } from '../../engine/asks/load-lists.ts';
import type { HomePage, OutboxItem } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { isGroup } from '../slack/directory.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { buildHome } from '../views/home/build-home.ts';
import type { Account } from '../views/home/sections.ts';
import { recentStats } from './policy-stats.ts';

/** A Home is kept up to date for so long after its person opened it. */
const KEPT_MS = 12 * 3_600_000;

/** Publishes a person's App Home from the current record, with one list turned to a given page, and keeps it up to date from now on. */
export async function showHome(context: BotContext, userId: string, page: HomePage = {}): Promise<void> {
  const { store, directory } = context;
  const groups = await directory.groupsOf(userId).catch(() => []);
  // What changes while it is published is published again.
  await Promise.all([
    store.keepHomes([userId], Date.now() + KEPT_MS, page),
    store.keepHomes(groups, Date.now() + KEPT_MS),
  ]);
  await publish(context, userId, page);
}

/** Publishes the Home of a person, or those of the members of a group who have opened it, because a request in it has changed. */
export async function publishHome(
  context: BotContext,
  item: OutboxItem & { readonly kind: 'home' },
): Promise<void> {
  const { store, directory, logger } = context;
  const { person } = item;
  const open = isGroup(person)
    ? await store.openHomes(await directory.relaxed().peopleOf([person]))
    : [{ person, page: item.page }];
  for (const { person: userId, page } of open) {
    try {
      await publish(context, userId, page);
    } catch (error) {
      const { kind, reason } = judgeSlackFailure(error);
      if (kind === 'later') throw error;
      logger.warn({ userId, reason }, 'App Home not published');
      await store.keepHomes([userId], 0);
    }
  }
  await store.done(item);
}

async function publish(context: BotContext, userId: string, page: HomePage): Promise<void> {
  const lists = LISTS.map((name) =>
    loadList(context, userId, name, {
      from: page.list === name ? page.from : undefined,
      // What waits comes first; a full Home has almost as many blocks as Slack takes.
      limit: name === 'waiting' ? PAGE_SIZE : SHORT_PAGE_SIZE,
    }),
  );
  const isAdmin = context.agent().admins.includes(userId);
  const { approvers, quorum } = context.agent().unfreeze;
  const asOf = Date.now();
  const [pages, stats, { freezes }, grants, delegations, accounts] = await Promise.all([
    Promise.all(lists),
    isAdmin ? recentStats(context.store) : undefined,
    context.store.readFreezes(),
    grantsFor(context, userId),
    delegationsFor(context, userId),
    loadAccounts(context, userId),
  ]);
  const mayUnfreeze =
    freezes.length > 0 && (await context.directory.isAmong(userId, approvers).catch(() => false));
  const view = buildHome(pages, {
    asOf,
    stats,
    grants,
    accounts,
    freezes,
    toolProblems: isAdmin ? context.toolbox.problems() : [],
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

/** A full Home has almost as many blocks as Slack takes. */
const MAX_SERVERS = 5;

/** Lists the accounts of a person; a server whose record cannot be read counts as not connected. */
function loadAccounts({ toolbox, accounts }: BotContext, person: string): Promise<Account[]> {
  return Promise.all(
    toolbox
      .requesterServers()
      .slice(0, MAX_SERVERS)
      .map(async (server) => ({
        server,
        isConnected: await accounts.connections.isConnected(server, person).catch(() => false),
      })),
  );
}
