import { z } from 'zod';
import { type JsonObject, toJson } from '../../agent/json.ts';
import type { PolicySnapshot } from '../../store/port.ts';
import type { Policy } from '../../tools/gate/policy.ts';
import { ANYONE } from '../people/may-decide.ts';

const Fields = z.custom<JsonObject>();

const snapshots = new WeakMap<Policy, PolicySnapshot>();

/** A policy as it is when the request is made: later changes of the manifest make other policies, and do not change what was asked. */
export function snapshotOf(policy: Policy): PolicySnapshot {
  const known = snapshots.get(policy);
  if (known !== undefined) return known;
  const made = takeSnapshot(policy);
  snapshots.set(policy, made);
  return made;
}

function takeSnapshot(policy: Policy): PolicySnapshot {
  const { approvers, resolvers, quorum, veto, selfApproval, expiresMs, remindMs, escalate } = policy;
  return {
    principals: [...approvers],
    resolvers: [...(resolvers.length > 0 ? resolvers : approvers)],
    quorum,
    vetoes: veto ? 1 : quorum,
    selfApproval,
    expiresInMs: expiresMs,
    ...(remindMs !== undefined && { remindEveryMs: remindMs }),
    ...(escalate !== undefined && { escalate: { afterMs: escalate.afterMs, to: [...escalate.to] } }),
  };
}

/** Who may answer a question or a form. */
export function askingSnapshot(
  requester: string,
  options: { limitToRequester: boolean; expiresInMs: number },
): PolicySnapshot {
  return {
    principals: [options.limitToRequester ? requester : ANYONE],
    resolvers: [],
    quorum: 1,
    vetoes: 1,
    selfApproval: true,
    expiresInMs: options.expiresInMs,
  };
}

const written = new WeakMap<PolicySnapshot, JsonObject>();

/** The policy as the digest covers it. */
export function asJson(snapshot: PolicySnapshot): JsonObject {
  const known = written.get(snapshot);
  if (known !== undefined) return known;
  const json = Fields.parse(toJson(snapshot));
  written.set(snapshot, json);
  return json;
}
