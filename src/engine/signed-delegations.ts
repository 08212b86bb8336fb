import type { JsonObject } from '../agent/json.ts';
import { policiesNamed } from '../policy/policy.ts';
import { DELEGATION_DOMAIN, type DelegationTerms, readDelegationProof } from '../policy/proof.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import type { PolicySnapshot } from '../store/port/request-record.ts';
import { type DelegationLink, isDelegationProven } from './passkeys.ts';

/** A delegation on record. */
interface GivenDelegation {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly until: number;
  /** The policies for which it is; `undefined` for all. */
  readonly policies?: readonly string[] | undefined;
  /** The proof that the approver's passkey signed it. */
  readonly proof?: JsonObject | undefined;
}

/** The policy of a request as far as it says which delegations count. */
export interface DelegationRules {
  readonly policy: Pick<PolicySnapshot, 'delegation' | 'passkey'>;
  /** The name of the policy; `undefined` if the request cannot be read. */
  readonly policyName: string | undefined;
}

/** Tells whether a delegation counts for a request: where passkeys approve, the approver's own passkey must have signed it. */
export async function delegationCounts(
  store: Pick<DocumentStore, 'readDocument'>,
  { from, to, policies, proof }: GivenDelegation,
  { policy, policyName }: DelegationRules,
): Promise<boolean> {
  if (policy.delegation !== true) return false;
  const asked = policyName === undefined ? [''] : policiesNamed(policyName);
  if (policies !== undefined && !asked.every((name) => policies.includes(name))) return false;
  if (policy.passkey !== true) return true;
  return isDelegationProven(store, readDelegationProof(proof), { from, to, policyName, at: Date.now() });
}

/** Writes the terms that a person signs for a delegation of theirs. */
export function delegationTermsOf(
  workspace: string,
  { id, from, to, until }: GivenDelegation,
  { nonce, expiry, policies }: DelegationLink,
): DelegationTerms {
  return {
    domain: DELEGATION_DOMAIN,
    workspace,
    delegation: id,
    from,
    to,
    until,
    policies: [...policies],
    nonce,
    expiry,
  };
}
