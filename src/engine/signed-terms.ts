import { toJson } from '../agent/json.ts';
import { JsonRecord } from '../agent/json-schema.ts';
import { type ApprovalTerms, PROOF_DOMAIN, type Scope } from '../policy/proof.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Vote } from '../store/port/values.ts';
import type { ApprovalLink } from './passkeys.ts';
import { readDetails } from './request-details.ts';

/** An approval as a person casts it, as far as it is signed. */
export interface SignedVote {
  readonly standsFor: string | undefined;
  readonly grants: boolean;
  readonly chosen: Vote['chosen'];
}

/** Writes the terms that a person signs for a request, from the stored bytes. */
export function termsOf(
  workspace: string,
  request: RequestRecord,
  { nonce, expiry, who }: ApprovalLink,
  { standsFor, grants, chosen }: SignedVote,
): ApprovalTerms {
  return {
    domain: PROOF_DOMAIN,
    workspace,
    request: request.id,
    decision: 'approve',
    digest: chosen?.digest ?? request.digest,
    scope: scopeOf(request, grants, chosen),
    voter: who,
    onBehalfOf: standsFor ?? null,
    nonce,
    expiry,
  };
}

function scopeOf(request: RequestRecord, grants: boolean, chosen: Vote['chosen']): Scope {
  const terms = grants ? readDetails(request)?.facets.grants : undefined;
  if (terms !== undefined) return { grant: JsonRecord.parse(toJson(terms)) };
  if (request.steps === undefined) return 'once';
  return {
    plan: chosen?.steps ?? request.steps.filter(({ isChosen }) => isChosen).map(({ number }) => number),
  };
}
