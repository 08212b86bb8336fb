import { type Delegation, readDelegations } from '../../store/documents/delegations.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { Store } from '../../store/port/store.ts';
import type { PageOptions } from '../../store/port/values.ts';
import type { Directory } from '../ports.ts';
import { readDetails } from '../request-details.ts';
import { hasPart } from './stand-ins.ts';

/** The record and the people that lists are made of. */
export interface Lists {
  readonly store: Store;
  readonly directory: Directory;
}

/** The three lists of a person. */
export const LISTS = ['waiting', 'asked', 'decided'] as const;

export type ListName = (typeof LISTS)[number];

/** A page of a list of requests. */
export interface ListPage {
  readonly name: ListName;
  readonly requests: readonly RequestRecord[];
  /** The start of the next page, if there is one. */
  readonly next: string | undefined;
  /** Whether this is the first page. */
  readonly isFirst: boolean;
  /** The number of all requests of the list, if it is known. */
  readonly total?: string;
}

export const PAGE_SIZE = 10;
/** The page size of a list that shares its place with others. */
export const SHORT_PAGE_SIZE = 5;

/** The number of newest requests within which the waiting ones are sorted; the next window follows when its pages are over. */
const SORTED = 100;

/**
 * Loads one page of a person's list; the cost depends on the page and the window only. What waits comes by risk and by when it expires,
 * the others by time.
 */
export async function loadList(
  { store, directory }: Lists,
  userId: string,
  name: ListName,
  { from, limit = PAGE_SIZE }: { readonly from?: string | undefined; readonly limit?: number } = {},
): Promise<ListPage> {
  const own = await peopleFor(directory, userId, name);
  const others = name === 'waiting' ? await delegatorsOf({ store, directory }, userId) : [];
  const people = [...new Set([...own, ...others.flatMap(({ ids }) => ids)])];
  const load = async (window: PageOptions) => {
    const { requestIds, next } = await store.list(name, name === 'waiting' ? people : [userId], window);
    const loaded = await Promise.all(requestIds.map((id) => store.load(id)));
    return { next, found: loaded.flatMap((each) => (each.outcome === 'found' ? [each.request] : [])) };
  };
  const isFirst = from === undefined;
  if (name !== 'waiting') {
    const { found, next } = await load({ from, limit });
    return { name, requests: found, next, isFirst };
  }
  const [, start = '0', window] = /^(\d+) ?(.*)$/.exec(from ?? '') ?? [];
  const { found, next } = await load({ from: window === '' ? undefined : window, limit: SORTED });
  const waiting = found.filter((request) => waitsFor(request, userId, own, others)).toSorted(byUrgency);
  const end = Number(start) + limit;
  const following = end < waiting.length ? `${end} ${window ?? ''}`.trimEnd() : next && `0 ${next}`;
  return {
    name,
    requests: waiting.slice(Number(start), end),
    next: following,
    isFirst,
    // Of a later window nobody knows how many came before it.
    ...((window ?? '') === '' && { total: `${waiting.length}${next === undefined ? '' : '+'}` }),
  };
}

/** High risk first, then what expires first; the requests of one turn in the order of their calls. */
function byUrgency(one: RequestRecord, other: RequestRecord): number {
  const [a, b] = [one, other].map((request) => {
    const { policy, place } = readDetails(request) ?? {};
    return [policy?.risk === 'high' ? 0 : 1, request.expiresAt, place?.number ?? 0];
  });
  const differences = (a ?? []).map((value, index) => value - (b?.[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

/**
 * Tells whether a request waits for a person, who may be one of several people and groups. Somebody who has approved waits for others, and so does
 * who asked for it or edited it. An outcome that became unknown is a new question, also for them. For somebody else they can only approve, where the policy allows it.
 */
function waitsFor(
  request: RequestRecord,
  userId: string,
  own: readonly string[],
  delegators: readonly Delegator[],
): boolean {
  const { state, kind, policy, principals, requesters, barred } = request;
  if (state === 'pending' && hasPart(request, userId)) return false;
  const isOwn = barred.includes(userId) || (!policy.selfApproval && requesters.includes(userId));
  if (state === 'pending' && kind === 'approval' && isOwn) return false;
  const asked = state === 'pending' ? principals : policy.resolvers;
  if (asked.some((id) => own.includes(id))) return true;
  if (state !== 'pending' || policy.delegation !== true || requesters.includes(userId)) return false;
  return delegators.some(
    ({ from, ids, isSigned }) =>
      (isSigned || policy.passkey !== true) &&
      !hasPart(request, from) &&
      principals.some((id) => ids.includes(id)),
  );
}

/** A person who has delegated, with their groups. */
interface Delegator {
  readonly from: string;
  readonly ids: readonly string[];
  /** Whether their passkey signed it; without, it does not count where passkeys approve. */
  readonly isSigned: boolean;
}

/** Lists the people who have delegated to a person. */
async function delegatorsOf({ store, directory }: Lists, userId: string): Promise<readonly Delegator[]> {
  const given = (await readDelegations(store)).filter(({ to }) => to === userId);
  return Promise.all(
    given.map(async ({ from, proof }) => ({
      from,
      isSigned: proof !== undefined,
      ids: await peopleFor(directory, from, 'waiting'),
    })),
  );
}

/** Lists the person and their groups, whose requests wait for them as well; without the groups if they cannot be looked up. */
async function peopleFor(directory: Directory, userId: string, name: ListName): Promise<string[]> {
  if (name !== 'waiting') return [userId];
  return [userId, ...(await directory.groupsOf(userId).catch(() => []))];
}

/** Lists the delegations that a person has given or received, and for an admin all. */
export async function delegationsFor(
  { store, agent }: Pick<Lists, 'store'> & { readonly agent: () => { readonly admins: readonly string[] } },
  who: string,
): Promise<readonly Delegation[]> {
  const isAdmin = agent().admins.includes(who);
  const all = await readDelegations(store);
  const own = all.filter(({ from, to }) => from === who || to === who);
  return isAdmin ? [...own, ...all.filter((each) => !own.includes(each))] : own;
}
