import { z } from 'zod';
import { UNSIGNED } from '../world/cast.ts';
import type { Evidence } from '../world/gather-evidence.ts';
import type { Violation } from './invariants.ts';
import { rowsOf, type SeenRequest } from './requests.ts';

/** A start without a request of its own, under a grant. */
const UnderGrant = z.object({ idempotencyKey: z.string(), granted: z.object({ grant: z.string() }) });

/** Redis's clock and that of the worker that wrote the effect down are read at different moments. */
const CLOCKS_MS = 50;

/** Decisions and starts stand in the log once and before their effect, and the chain holds. */
export function checkAudit(evidence: Evidence, requests: readonly SeenRequest[]): Violation[] {
  const violations: Violation[] = evidence.chainProblems.map((what) => ({ invariant: 5, what }));
  const broken = (what: string) => violations.push({ invariant: 5, what });
  for (const request of requests) {
    const starts = rowsOf(request, 'started');
    const approvals = rowsOf(request, 'approved');
    if (approvals.length > 1) broken(`${request.id} was approved ${approvals.length} times`);
    if (starts.length > 0 && approvals.length === 0) broken(`${request.id} was started and never approved`);
    if (isRepeated(starts.map(({ detail }) => detail)))
      broken(`a start of ${request.id} is in the log twice`);
    const votes = rowsOf(request, 'voted').map(({ detail }) => detail.split(' ').slice(0, 2).join(' '));
    if (isRepeated(votes)) broken(`a vote on ${request.id} is in the log twice`);
    for (const effect of request.effects) {
      const isBefore = starts.some(({ at }) => at <= effect.at + CLOCKS_MS);
      if (!isBefore && !evidence.clocksDiffer) broken(`the effect of ${request.id} has no start before it`);
    }
  }
  const started = new Set(requests.flatMap(({ effects, token }) => (effects.length > 0 ? [token] : [])));
  const granted = new Set(
    evidence.audit.flatMap(({ event, body }) =>
      event === 'effect-started' ? [UnderGrant.safeParse(JSON.parse(body)).data?.idempotencyKey ?? ''] : [],
    ),
  );
  for (const { token, tool, key } of evidence.effects)
    if (token !== '' && UNSIGNED[tool] === undefined && !started.has(token) && !granted.has(key))
      broken(`the effect of ${token} belongs to no start in the log`);
  return violations;
}

function isRepeated(texts: readonly string[]): boolean {
  return new Set(texts).size !== texts.length;
}
