import { approvalsByGroup, countedApprovals } from '../../../engine/approvals.ts';
import type { Voter } from '../../../engine/ports.ts';
import { readDelegations } from '../../../store/documents/delegations.ts';
import type { Actor, RequestRecord } from '../../../store/port/store.ts';
import { approvableGroups } from '../../asks/approver-groups.ts';
import { askerProblem } from '../../asks/may-ask.ts';
import { hasPart, mayVote } from '../../asks/stand-ins.ts';
import type { BotContext } from '../../context.ts';
import { type Ineligibility, mayDecide } from '../../slack/may-decide.ts';
import { parseThreadId } from '../../slack/thread.ts';
import type { Click } from './click.ts';

/** A person with the evidence of the check, and the reason if they may not decide. */
export interface Authorization {
  readonly actor: Actor;
  readonly problem: Ineligibility | undefined;
}

/** Checks in Slack whether the person who clicked is one of the principals now. */
export async function authorize(
  { directory }: Pick<BotContext, 'directory'>,
  { who, id }: Click,
  principals: readonly string[],
  excluded: readonly string[] = [],
  outsiders = false,
): Promise<Authorization> {
  const permission = await mayDecide(directory, who, principals, excluded, outsiders);
  const { eligible } = permission;
  return {
    actor: { who, eligible, evidence: { click: id, ...permission.evidence } },
    problem: permission.eligible ? undefined : permission.why,
  };
}

/** Checks whether a person may answer a request. Whoever may ask may answer what their own task asks, also as a guest. */
export async function authorizeAnswer(
  context: Pick<BotContext, 'directory' | 'agent'>,
  click: Click,
  { principals, requesters, threadId, policy }: RequestRecord,
): Promise<Authorization> {
  const asker = { user: click.who, channel: parseThreadId(threadId).channel };
  const mayAsk =
    requesters.includes(click.who) &&
    (await askerProblem(context.directory, context.agent().askers, asker).catch(() => '')) === undefined;
  return authorize(context, click, principals, policy.excluded, mayAsk);
}

type VoteContext = Pick<BotContext, 'directory' | 'store'>;

/** A person who votes, in whose place, and with the approver groups that they vote for. */
export interface VoteAuthorization extends Authorization {
  readonly groups: readonly number[] | undefined;
  /** The approver in whose place the person votes; `undefined` in their own right. */
  readonly standsFor: string | undefined;
}

/** Checks in Slack whether the person who clicked may approve a request now, in whose place, and for which of its groups. */
export async function authorizeVote(
  context: VoteContext,
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
  { directory }: Pick<VoteContext, 'directory'>,
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
  { store }: Pick<VoteContext, 'store'>,
  who: string,
  request: RequestRecord,
): Promise<readonly string[]> {
  const { requesters, barred, policy } = request;
  const took = policy.selfApproval ? barred : [...barred, ...requesters];
  const given = (await readDelegations(store))
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
