import type { JsonObject } from '../../agent/json.ts';
import { type Delegation, readDelegations } from '../../store/documents/delegations.ts';
import type { DocumentStore } from '../../store/port/documents.ts';
import type { PolicySnapshot, RequestRecord } from '../../store/port/request-record.ts';
import type { Directory, StandIn, Voter } from '../ports.ts';
import { readDetails } from '../request-details.ts';
import { type DelegationRules, delegationCounts } from '../signed-delegations.ts';
import { mayDecide, type Permission } from './may-decide.ts';

type Lookup = { readonly store: Pick<DocumentStore, 'readDocument'>; readonly directory: Directory };

/** The people of a request as far as they say who may decide. */
export interface DecisionRules extends DelegationRules {
  readonly policy: Pick<PolicySnapshot, 'delegation' | 'passkey' | 'excluded' | 'selfApproval'>;
  readonly principals: readonly string[];
  readonly requesters: readonly string[];
  readonly barred: readonly string[];
}

/**
 * Checks whether a person may vote: in their own right, or in the place of an approver who may. A delegation gives no more than
 * the delegator's own right, so that nobody passes on what was delegated to them.
 */
export async function mayVote(
  directory: Directory,
  { who, standsFor }: Voter,
  { principals, policy }: Pick<DecisionRules, 'principals' | 'policy'>,
): Promise<Permission> {
  if (standsFor === undefined) return mayDecide(directory, who, principals, policy.excluded);
  const [own, delegator] = await Promise.all([
    mayDecide(directory, who, [who], policy.excluded),
    mayDecide(directory, standsFor, principals, policy.excluded),
  ]);
  const refused = own.eligible ? delegator : own;
  const evidence: JsonObject = { ...own.evidence, for: standsFor, delegator: delegator.evidence };
  return { ...refused, evidence };
}

/** Returns who may decide a request. */
export function rulesOf(request: RequestRecord): DecisionRules {
  return { ...request, policyName: readDetails(request)?.policy?.name };
}

/**
 * Lists the delegations that count for a request: not to a requester or somebody who took part in it, not from one who may not decide it
 * themselves, and where passkeys approve only those that are signed.
 */
export async function delegationsUnder(
  { store }: Pick<Lookup, 'store'>,
  rules: Omit<DecisionRules, 'principals'>,
): Promise<readonly Delegation[]> {
  const { requesters, barred, policy } = rules;
  if (policy.delegation !== true) return [];
  const took = [...requesters, ...barred];
  const given = (await readDelegations(store)).filter(
    ({ from, to }) => !took.includes(to) && !(policy.selfApproval ? barred : took).includes(from),
  );
  const counting = await Promise.all(given.map((each) => delegationCounts(store, each, rules)));
  return given.filter((_, index) => counting[index]);
}

/** Lists the people who may decide for approvers of a request now. */
export async function standInsFor(context: Lookup, rules: DecisionRules): Promise<readonly StandIn[]> {
  return (await standInsBehind(context, rules)).standIns;
}

/** The same, with `isSure` false if somebody could not be looked up. */
export async function standInsBehind(
  { store, directory }: Lookup,
  rules: DecisionRules,
): Promise<{ readonly standIns: readonly StandIn[]; readonly isSure: boolean }> {
  const relaxed = directory.relaxed();
  const checked = await Promise.all(
    (await delegationsUnder({ store }, rules)).map(async ({ from: standsFor, to: who }) => ({
      who,
      standsFor,
      permission: await mayVote(relaxed, { who, standsFor }, rules),
    })),
  );
  return {
    standIns: checked
      .filter(({ permission }) => permission.eligible)
      .map(({ who, standsFor }) => ({ who, standsFor })),
    isSure: checked.every(({ permission }) => permission.eligible || permission.checked),
  };
}

/** Lists the people and groups who have no part in a vote yet, and the people who may decide for them. */
export async function notVoted(context: Lookup, request: RequestRecord): Promise<string[]> {
  const standIns = await standInsFor(context, rulesOf(request));
  const people = [
    ...request.principals,
    ...standIns.filter(({ standsFor }) => !hasPart(request, standsFor)).map(({ who }) => who),
  ];
  return [...new Set(people)].filter((id) => !hasPart(request, id));
}

/** Tells whether somebody else has voted for a person, or the person has voted themselves. */
export function hasPart({ votes }: Pick<RequestRecord, 'votes'>, person: string): boolean {
  return votes.some(({ who, standsFor }) => who === person || standsFor === person);
}
