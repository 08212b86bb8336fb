import type { Voter } from '../../engine/ports.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { delegationsNow, hasPart, mayVote } from '../delegations/stand-ins.ts';
import { approvableGroups, approvalsByGroup, countedApprovals } from '../requests/approver-groups.ts';
import type { Authorization } from './authorize.ts';
import type { Click } from './click.ts';

type Context = Pick<BotContext, 'directory' | 'store'>;

/** A person who votes, in whose place, and with the approver groups that they vote for. */
export interface VoteAuthorization extends Authorization {
  readonly groups: readonly number[] | undefined;
  /** The approver in whose place the person votes; `undefined` in their own right. */
  readonly standsFor: string | undefined;
}

/** Checks in Slack whether the person who clicked may approve a request now, in whose place, and for which of its groups. */
export async function authorizeVote(
  context: Context,
  click: Click,
  request: RequestRecord,
): Promise<VoteAuthorization> {
  const own = await authorizeAs(context, click, request, { who: click.who });
  if (request.policy.delegation !== true) return own;
  const others: VoteAuthorization[] = [];
  for (const standsFor of await delegatorsOf(context, click.who, request)) {
    const other = await authorizeAs(context, click, request, { who: click.who, standsFor });
    if (other.actor.eligible) others.push(other);
  }
  const possible = own.actor.eligible ? [own, ...others] : others;
  // A vote that fills a place of a group that is still open comes before one that fills none.
  return possible.find((vote) => fillsPlace(request, vote)) ?? possible[0] ?? own;
}

async function authorizeAs(
  { directory }: Pick<Context, 'directory'>,
  { who, id }: Click,
  request: RequestRecord,
  voter: Voter,
): Promise<VoteAuthorization> {
  const { standsFor } = voter;
  const permission = await mayVote(directory, voter, request);
  const actor = { who, eligible: permission.eligible, evidence: { click: id, ...permission.evidence } };
  if (!permission.eligible) return { actor, problem: permission.why, groups: undefined, standsFor };
  try {
    const groups = await approvableGroups(directory, standsFor ?? who, request);
    return { actor, problem: undefined, groups, standsFor };
  } catch {
    const refused = { ...actor, eligible: false };
    return { actor: refused, problem: 'cannot-check', groups: undefined, standsFor };
  }
}

/** Lists the people who have delegated to a person and may decide this themselves, those first who have no part in a vote yet. */
async function delegatorsOf(
  { store }: Pick<Context, 'store'>,
  who: string,
  request: RequestRecord,
): Promise<readonly string[]> {
  const { requesters, barred, policy } = request;
  const took = policy.selfApproval ? barred : [...barred, ...requesters];
  const given = (await delegationsNow(store))
    .filter(({ from, to }) => to === who && !took.includes(from))
    .map(({ from }) => from);
  return [
    ...given.filter((from) => !hasPart(request, from)),
    ...given.filter((from) => hasPart(request, from)),
  ];
}

function fillsPlace(request: RequestRecord, { actor: { who }, groups }: VoteAuthorization): boolean {
  if (groups === undefined) return true;
  return approvalsByGroup(request, [{ who, groups }]).flat().length > countedApprovals(request);
}
