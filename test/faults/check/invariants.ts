import type { Evidence } from '../world/gather-evidence.ts';
import { checkAudit } from './check-audit.ts';
import { checkDecisions } from './check-decisions.ts';
import { checkEffects, checkReceipts } from './check-effects.ts';
import { checkLiveness } from './check-liveness.ts';
import { checkTurns } from './check-turns.ts';
import { requestsOf } from './requests.ts';

/** Something that must never be, with the number of the promise that it breaks. */
export interface Violation {
  readonly invariant: number;
  readonly what: string;
}

/** The promise behind each number. */
export const INVARIANTS: Readonly<Record<number, string>> = {
  1: 'at most one effect per approval, one key for an idempotent tool',
  2: 'no effect without a quorum of distinct, eligible people before expiry',
  3: 'executed bytes = stored bytes = shown bytes',
  4: 'nothing starts after rejected, expired, withdrawn',
  5: 'every decision and start is in the audit once, before its effect, and the chain verifies',
  6: 'settled states do not change',
  7: 'one live turn per thread, no write with a stale token',
  8: 'every tool call gets exactly one result',
  9: 'nothing is stuck: settled, or unknown and reported',
  10: 'no planted secret in logs, cards, Redis or audit',
  11: 'the run is not vacuous',
};

/** Holds everything that was seen from outside against all promises. */
export function checkAll(evidence: Evidence): Violation[] {
  const requests = requestsOf(evidence);
  return [
    ...checkEffects(evidence, requests),
    ...checkReceipts(evidence),
    ...checkDecisions(requests),
    ...checkAudit(evidence, requests),
    ...checkTurns(evidence, requests),
    ...checkLiveness(evidence),
    ...evidence.leaks.map((where) => ({ invariant: 10, what: `the planted secret is in ${where}` })),
  ];
}
