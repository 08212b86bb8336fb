import type { Limit } from '../../gate/limits.ts';
import type { Manifest } from '../manifest.ts';
import { incomparable, isSame, type PartChange, type RuleChange, stronger, weaker } from './change.ts';
import { compareAgents, compareAudits } from './compare-agents.ts';
import { comparePolicies } from './compare-policies.ts';
import { compareTools } from './compare-tools.ts';

/** A manifest together with the lock file beside it. */
export interface LockedManifest {
  readonly manifest: Manifest;
  readonly lock: string | undefined;
}

/** The differences of two manifests that decide who may do what. Treat an incomparable one as weaker. */
export interface ManifestComparison {
  readonly verdict: 'equal' | 'stronger' | 'weaker' | 'incomparable';
  readonly changes: readonly RuleChange[];
}

/**
 * Compares two manifests. If the next one is equal or stronger, then every call that it lets run, with whatever approvals, the former
 * one lets run as well. Files and servers that a manifest names, and values of the environment, are not compared.
 */
export function compareManifests(former: LockedManifest, next: LockedManifest): ManifestComparison {
  const [before, now] = [former.manifest, next.manifest];
  const changes: RuleChange[] = [
    ...compareAgents(before.agent, now.agent).map((change) => ({ part: 'agent', ...change })),
    ...[...before.policies].flatMap(([name, policy]) => {
      const other = now.policies.get(name);
      const found = other === undefined ? [] : comparePolicies(policy, other);
      return found.map((change) => ({ part: `policies.${name}`, ...change }));
    }),
    ...compareTools(before, now),
    ...compareLimits(before.limits, now.limits).map((change) => ({ part: 'limits', ...change })),
    ...compareAudits(before.audit, now.audit).map((change) => ({ part: 'audit', ...change })),
    ...compareLocks(former.lock, next.lock).map((change) => ({ part: 'manifest.lock.json', ...change })),
  ];
  const has = (effect: RuleChange['effect']) => changes.some((change) => change.effect === effect);
  const verdict = (['weaker', 'incomparable', 'stronger'] as const).find(has) ?? 'equal';
  return { verdict, changes };
}

/** Returns the changes that let something run with less than before, or may do so. */
export function weakeningsIn({ changes }: ManifestComparison): readonly RuleChange[] {
  return changes.filter(({ effect }) => effect !== 'stronger');
}

function compareLocks(former: string | undefined, next: string | undefined): PartChange[] {
  if (former === next) return [];
  if (former === undefined) return [stronger('the definitions of MCP tools are locked')];
  return [
    incomparable(
      next === undefined
        ? 'the definitions of MCP tools are no longer locked'
        : 'other definitions of MCP tools are locked',
    ),
  ];
}

/** Compares the limits on what tools may do: one that is gone or allows more is weaker, a new one that denies is stronger. */
function compareLimits(former: readonly Limit[], next: readonly Limit[]): PartChange[] {
  const named = new Map(next.map((limit) => [limit.name, limit]));
  const known = new Set(former.map(({ name }) => name));
  return [
    ...former.flatMap((limit) => compareLimit(limit, named.get(limit.name))),
    ...next
      .filter(({ name }) => !known.has(name))
      .map(({ name, policy }) =>
        policy === undefined
          ? stronger(`the limit "${name}" is new`)
          : incomparable(`the limit "${name}" is new, and "${policy}" approves what is over it`),
      ),
  ];
}

function compareLimit(former: Limit, next: Limit | undefined): PartChange[] {
  const { name } = former;
  if (next === undefined) return [weaker(`the limit "${name}" is gone`)];
  if (isSame(former, next)) return [];
  if (!isSame({ ...former, max: 0 }, { ...next, max: 0 }))
    return [incomparable(`the limit "${name}" has changed`)];
  const words = `the limit "${name}": ${former.max} before, ${next.max} now`;
  return [next.max > former.max ? weaker(words) : stronger(words)];
}
