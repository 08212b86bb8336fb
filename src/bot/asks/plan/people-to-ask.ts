import { membershipsOf } from '../../../engine/asks/approver-groups.ts';
import { mayDecide } from '../../../engine/asks/may-decide.ts';
import { hasPart } from '../../../engine/asks/stand-ins.ts';
import { fillGroups, type Policy } from '../../../policy/policy.ts';
import type { PolicySnapshot, RequestRecord } from '../../../store/port/request-record.ts';
import type { Store } from '../../../store/port/store.ts';
import type { BotContext } from '../../context.ts';
import { limits } from '../../slack/limits.ts';
import { personView } from '../../views/view-ids.ts';

/** The newest requests among which those are counted that wait for one person. */
const NEWEST_COUNTED = 50;

/** The people who could approve now, and how many places of the policy they can fill. */
export interface EligibleApprovers {
  readonly approvers: string[];
  readonly places: number;
  readonly isSure: boolean;
}

/** Finds the people who could approve now; without the requesters, unless the policy allows it. */
export async function eligibleApprovers(
  directory: BotContext['directory'],
  policy: PolicySnapshot,
  { requesters, barred }: { readonly requesters: readonly string[]; readonly barred: readonly string[] },
): Promise<EligibleApprovers> {
  const { principals, groups, excluded } = policy;
  const { people, isSure } = await directory.peopleBehind(principals);
  const allowed = people.filter(
    (id) => !barred.includes(id) && (policy.selfApproval || !requesters.includes(id)),
  );
  const checked = await Promise.all(allowed.map((id) => mayDecide(directory, id, principals, excluded)));
  const approvers = allowed.filter((_, index) => checked[index]?.eligible === true);
  const isChecked = isSure && checked.every((permission) => permission.eligible || permission.checked);
  if (groups === undefined || !isChecked) return { approvers, places: approvers.length, isSure: isChecked };
  const members = await Promise.all(
    approvers.map(async (who) => ({ who, groups: await membershipsOf(directory, who, groups) })),
  );
  const filled = fillGroups(
    groups.map(({ quorum }) => quorum),
    members,
  );
  return { approvers, places: filled.flat().length, isSure: true };
}

/** Finds the people who can confirm an unknown outcome now, by the same check as for approvers. */
export async function peopleToConfirm(
  directory: BotContext['directory'],
  resolvers: readonly string[],
): Promise<{ readonly people: readonly string[]; readonly isSure: boolean }> {
  const { people, isSure } = await directory.peopleBehind(resolvers);
  const checked = await Promise.all(people.map((id) => mayDecide(directory, id, resolvers)));
  return {
    people: people.filter((_, index) => checked[index]?.eligible === true),
    isSure: isSure && checked.every((permission) => permission.eligible || permission.checked),
  };
}

/** Lists the status that approvers have set in Slack, by person, from look-ups that were just made; a card names no more people. */
export async function statusesOf(
  directory: BotContext['directory'],
  approvers: readonly string[],
): Promise<Readonly<Record<string, string>> | undefined> {
  const found = await Promise.all(
    approvers.slice(0, limits.mentions).map(async (id) => ({
      id,
      status: (await directory.member(id).catch(() => undefined))?.status,
    })),
  );
  const set = found.flatMap(({ id, status }) => (status === undefined ? [] : [[id, status] as const]));
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** The approvers who get a direct message. */
export interface AskedPeople {
  readonly people: readonly string[];
  /** Whether so much waits for each of them that others are asked at once. */
  readonly isFull: boolean;
}

/**
 * Leaves out the approvers for whom as many requests wait as the policy says; they find this one in the thread and in App Home, and may
 * decide it all the same. If nobody is left, the people of the escalation are asked at once, or everybody if there is none. What the
 * same people asked for does not bring the escalation forward, and of anybody else one request counts: nobody chooses who approves by
 * flooding the others.
 */
export async function peopleToAsk(
  context: {
    readonly store: Pick<Store, 'list' | 'load'>;
    readonly directory: BotContext['directory'];
  },
  { load, escalate, directMessages }: Policy,
  approvers: readonly string[],
  requesters: readonly string[],
): Promise<AskedPeople> {
  const most = load?.waiting;
  if (most === undefined || !directMessages) return { people: approvers, isFull: false };
  const waiting = await Promise.all(approvers.map((who) => listWaiting(context, who)));
  const free = approvers.filter((_, index) => (waiting[index]?.length ?? 0) < most);
  if (free.length > 0) return { people: free, isFull: false };
  const isFull = escalate !== undefined && waiting.every((each) => countOthers(each, requesters) >= most);
  return { people: isFull ? [] : approvers, isFull };
}

/** Counts the requests that have no requester in common with each other, nor with the given ones. */
function countOthers(waiting: readonly RequestRecord[], requesters: readonly string[]): number {
  const seen = new Set(requesters);
  let count = 0;
  for (const { requesters: askers } of waiting) {
    if (!askers.some((who) => seen.has(who))) count += 1;
    for (const who of askers) seen.add(who);
  }
  return count;
}

/** Lists the requests that a person got as a direct message and has not decided. */
async function listWaiting(
  {
    store,
    directory,
  }: { readonly store: Pick<Store, 'list' | 'load'>; readonly directory: BotContext['directory'] },
  who: string,
): Promise<RequestRecord[]> {
  const groups = await directory
    .relaxed()
    .groupsOf(who)
    .catch(() => []);
  const { requestIds } = await store.list('waiting', [who, ...groups], { limit: NEWEST_COUNTED });
  const loaded = await Promise.all(requestIds.map((id) => store.load(id)));
  return loaded.flatMap((result) =>
    result.outcome === 'found' &&
    result.request.state === 'pending' &&
    !hasPart(result.request, who) &&
    result.request.views.some(({ id }) => id === personView(who))
      ? [result.request]
      : [],
  );
}
