import type { JsonObject } from '../../../agent/json.ts';
import type { StandIn } from '../../../engine/ports.ts';
import { fillGroups, type Policy } from '../../../policy/policy.ts';
import type { PolicySnapshot, RequestRecord, Store } from '../../../store/port/store.ts';
import type { BotContext } from '../../context.ts';
import { limits } from '../../slack/limits.ts';
import { mayDecide } from '../../slack/may-decide.ts';
import { channelView, personView, standInViews } from '../../views/view-ids.ts';
import { membershipsOf } from '../approver-groups.ts';
import { hasPart } from '../stand-ins.ts';

/** The most direct messages per request; further approvers find it in the thread and in App Home. */
const MAX_DIRECT_MESSAGES = 20;
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
 * same people asked for does not bring the escalation forward: nobody chooses who approves by flooding the others.
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
  const isOthers = ({ requesters: askers }: RequestRecord) => !askers.some((who) => requesters.includes(who));
  const isFull = escalate !== undefined && waiting.every((each) => each.filter(isOthers).length >= most);
  return { people: isFull ? [] : approvers, isFull };
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

/** Lets the escalation begin with the request. */
export function escalatedAtOnce(policy: PolicySnapshot): PolicySnapshot {
  const { escalate } = policy;
  return escalate === undefined ? policy : { ...policy, escalate: { ...escalate, afterMs: 0 } };
}

/** Lists the places of the card beside the thread: the policy's channels, and the approvers' direct messages. */
export function otherViews(
  policy: Policy,
  approvers: readonly string[],
  standIns: readonly StandIn[],
): { id: string; place: JsonObject }[] {
  const announced = policy.announce.map((channel) => ({ id: channelView(channel), place: { channel } }));
  if (!policy.directMessages) return announced;
  return [
    ...announced,
    ...approvers.slice(0, MAX_DIRECT_MESSAGES).map((user) => ({ id: personView(user), place: { user } })),
    ...standInViews(standIns.filter(({ who }) => !approvers.includes(who))),
  ];
}
