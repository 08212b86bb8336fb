import type { Page, PageOptions, RequestRecord, Store } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';

/** The three lists of a person. */
export const LISTS = ['waiting', 'asked', 'decided'] as const;
export type ListName = (typeof LISTS)[number];

export interface ListPage {
  readonly name: ListName;
  readonly requests: readonly RequestRecord[];
  /** The start of the next page, if there is one. */
  readonly next: string | undefined;
  /** Whether this is the first page. */
  readonly isFirst: boolean;
}

export const PAGE_SIZE = 10;

/** Loads one page of a person's list; the cost depends on the page only. */
export async function loadList(
  { store, directory }: Pick<BotContext, 'store' | 'directory'>,
  userId: string,
  name: ListName,
  { from, limit = PAGE_SIZE }: { readonly from?: string | undefined; readonly limit?: number } = {},
): Promise<ListPage> {
  const people = await peopleFor(directory, userId, name);
  const page = await readPage(store, name, userId, people, { from, limit });
  const loaded = await Promise.all(page.requestIds.map((id) => store.load(id)));
  const found = loaded.flatMap((result) => (result.outcome === 'found' ? [result.request] : []));
  const requests = name === 'waiting' ? found.filter((request) => !hasVoted(request, userId)) : found;
  return { name, requests, next: page.next, isFirst: from === undefined };
}

/** A person who has approved waits for others. An outcome that became unknown is a new question, also for them. */
function hasVoted({ state, votes }: RequestRecord, userId: string): boolean {
  return state === 'pending' && votes.some(({ who }) => who === userId);
}

function readPage(
  store: Store,
  name: ListName,
  userId: string,
  people: readonly string[],
  options: PageOptions,
): Promise<Page> {
  if (name === 'waiting') return store.listWaiting(people, options);
  return name === 'asked' ? store.listAsked(userId, options) : store.listDecided(userId, options);
}

/** Lists the person and their groups, whose requests wait for them as well; without the groups if Slack cannot be asked. */
async function peopleFor(
  directory: BotContext['directory'],
  userId: string,
  name: ListName,
): Promise<string[]> {
  if (name !== 'waiting') return [userId];
  return [userId, ...(await directory.groupsOf(userId).catch(() => []))];
}
