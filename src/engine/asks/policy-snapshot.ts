import { isJsonObject, type JsonObject, toJson } from '../../agent/json.ts';
import { ANYONE, type Policy } from '../../policy/policy.ts';
import type { PolicySnapshot } from '../../store/port/request-record.ts';

/**
 * Takes the snapshot of a policy that a request keeps, with the approver groups of its call; later changes of the manifest do not
 * change it. One group alone is the same as a list of approvers.
 */
export function snapshotOf(
  policy: Policy,
  groups: NonNullable<PolicySnapshot['groups']> = policy.groups.map(({ any, quorum }) => ({
    any: [...any],
    quorum,
  })),
): PolicySnapshot {
  const { resolvers, quorum, veto, selfApproval, expiresMs, startWithinMs, remindMs, escalate, excluded } =
    policy;
  const approvers = [...new Set(groups.flatMap(({ any }) => any))];
  return {
    principals: approvers,
    resolvers: [...(resolvers.length > 0 ? resolvers : approvers)],
    quorum,
    vetoes: veto ? 1 : quorum,
    selfApproval,
    expiresInMs: expiresMs,
    startWithinMs,
    ...(remindMs !== undefined && { remindEveryMs: remindMs }),
    ...(groups.length > 1 && { groups }),
    ...(excluded.length > 0 && { excluded: [...excluded] }),
    ...(policy.delegation === true && { delegation: true as const }),
    ...(escalate !== undefined && { escalate: { afterMs: escalate.afterMs, to: [...escalate.to] } }),
  };
}

/** Builds the snapshot for a question, a form or a callback. */
export function answerSnapshot(
  requesters: readonly string[],
  options: { limitToRequester: boolean; expiresInMs: number },
): PolicySnapshot {
  return {
    principals: options.limitToRequester ? [...requesters] : [ANYONE],
    resolvers: [],
    quorum: 1,
    vetoes: 1,
    selfApproval: true,
    expiresInMs: options.expiresInMs,
  };
}

/** Writes a snapshot as the log and the digest of the request have it. */
export function termsOf(snapshot: PolicySnapshot): JsonObject {
  const terms = toJson(snapshot);
  return isJsonObject(terms) ? terms : {};
}
