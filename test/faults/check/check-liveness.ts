import type { Evidence } from '../world/gather-evidence.ts';
import type { Violation } from './invariants.ts';

const SIGNED = ['approve', 'both-approve', 'edit-and-approve', 'wait-and-approve'];

/** The calls that people meant to have carried out, and those of them that were. */
export function executedOf({ errands, effects }: Pick<Evidence, 'errands' | 'effects'>) {
  const happened = new Set(effects.map(({ token }) => token));
  const approved = errands.filter(({ intent }) => SIGNED.includes(intent)).flatMap(({ calls }) => calls);
  return { approved: approved.length, executed: approved.filter(({ token }) => happened.has(token)).length };
}

/** Everything came to an end, and what was approved was also done. */
export function checkLiveness(evidence: Evidence): Violation[] {
  const { errands, finished, effects, leastExecuted } = evidence;
  const violations: Violation[] = errands
    .filter((errand) => !finished.has(errand))
    .map(({ kind, channel, ts }) => ({ invariant: 9, what: `"${kind}" in ${channel}:${ts} has no end` }));
  const { approved, executed } = executedOf(evidence);
  if (executed < approved * leastExecuted || effects.length === 0)
    violations.push({ invariant: 11, what: `only ${executed} of ${approved} approved actions took effect` });
  return violations;
}
