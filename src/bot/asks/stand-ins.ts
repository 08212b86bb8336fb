import type { JsonObject } from '../../agent/json.ts';
import type { StandIn, Voter } from '../../engine/ports.ts';
import { readDelegations } from '../../store/documents/delegations.ts';
import type { DocumentStore } from '../../store/port/documents.ts';
import type { PolicySnapshot, RequestRecord } from '../../store/port/store.ts';
import type { Directory } from '../slack/directory.ts';
import { mayDecide, type Permission } from '../slack/may-decide.ts';

type Lookup = { readonly store: Pick<DocumentStore, 'readDocument'>; readonly directory: Directory };

/** The people of a request as far as they say who may decide. */
export interface DecisionRules {
  readonly policy: Pick<PolicySnapshot, 'delegation' | 'excluded'>;
  readonly principals: readonly string[];
  readonly requesters: readonly string[];
  readonly barred: readonly string[];
}

/**
 * Checks in Slack whether a person may vote: in their own right, or in the place of an approver who may. A delegation gives no more than
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

/** Lists the people who may decide for approvers of a request now; nobody who took part in it, and nobody for one who did. */
export async function standInsFor(context: Lookup, rules: DecisionRules): Promise<readonly StandIn[]> {
  return (await standInsBehind(context, rules)).standIns;
}

/** The same, with `isSure` false if Slack could not be asked about somebody. */
export async function standInsBehind(
  { store, directory }: Lookup,
  rules: DecisionRules,
): Promise<{ readonly standIns: readonly StandIn[]; readonly isSure: boolean }> {
  if (rules.policy.delegation !== true) return { standIns: [], isSure: true };
  const took = [...rules.requesters, ...rules.barred];
  const given = (await readDelegations(store)).filter(
    ({ from, to }) => !took.includes(from) && !took.includes(to),
  );
  const relaxed = directory.relaxed();
  const checked = await Promise.all(
    given.map(async ({ from: standsFor, to: who }) => ({
      ...{ who, standsFor },
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
  const standIns = await standInsFor(context, request);
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
