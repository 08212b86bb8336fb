import { approvalsByGroup, countedApprovals } from '../../../engine/approvals.ts';
import { approvableGroups } from '../../../engine/asks/approver-groups.ts';
import { askerProblem } from '../../../engine/asks/may-ask.ts';
import { type Ineligibility, mayDecide } from '../../../engine/asks/may-decide.ts';
import { delegationsUnder, hasPart, mayVote, rulesOf } from '../../../engine/asks/stand-ins.ts';
import type { Voter } from '../../../engine/ports.ts';
import type { Delegation } from '../../../store/documents/delegations.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Actor } from '../../../store/port/values.ts';
import type { BotContext } from '../../context.ts';
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
    (await askerProblem(context.directory, context.agent().askers, asker).catch(() => 'not-checked')) ===
      undefined;
  return authorize(context, click, principals, policy.excluded, mayAsk);
}

type VoteContext = Pick<BotContext, 'directory' | 'store'>;

/** A person who votes, in whose place, and with the approver groups that they vote for. */
export interface VoteAuthorization extends Authorization {
  readonly groups: readonly number[] | undefined;
  /** The approver in whose place the person votes; `undefined` in their own right. */
  readonly standsFor: string | undefined;
  /** The proof that this approver signed it. */
  readonly delegation?: Delegation['proof'];
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
  for (const { from, proof } of await delegationsTo(context, click.who, request)) {
    const other = await authorizeAs(context, click, request, { who: click.who, standsFor: from });
    if (other.actor.eligible) others.push({ ...other, delegation: proof });
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

/** Lists the delegations to a person that count for a request, those first whose approver has no part in a vote yet. */
async function delegationsTo(
  context: Pick<VoteContext, 'store'>,
  who: string,
  request: RequestRecord,
): Promise<readonly Delegation[]> {
  // One who took part in the request is refused by the record, which says why.
  const others = (people: readonly string[]) => people.filter((person) => person !== who);
  const { requesters, barred } = request;
  const rules = { ...rulesOf(request), requesters: others(requesters), barred: others(barred) };
  const given = (await delegationsUnder(context, rules)).filter(({ to }) => to === who);
  return [
    ...given.filter(({ from }) => !hasPart(request, from)),
    ...given.filter(({ from }) => hasPart(request, from)),
  ];
}

function fillsPlace(request: RequestRecord, { actor: { who }, groups }: VoteAuthorization): boolean {
  if (groups === undefined) return true;
  return approvalsByGroup(request, [{ who, groups }]).flat().length > countedApprovals(request);
}
