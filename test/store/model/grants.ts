import type { GrantOffer, GrantUse, Ungranted } from '../../../src/store/port/workspace.ts';
import type { Verbs, World } from './world.ts';

type GrantVerbs = Pick<Verbs, 'revokeGrant' | 'listGrants'>;

/** A call runs under a grant that holds and has a use left, or of which it has taken one. */
export function grantProblem(world: World, use: GrantUse | undefined): Ungranted | undefined {
  if (use === undefined) return undefined;
  const grant = world.grants.get(use.id);
  const because = (reason: Ungranted['reason']): Ungranted => ({ outcome: 'ungranted', reason });
  if (grant === undefined) return because('unknown');
  if (grant.revokedBy !== undefined) return because('revoked');
  if (grant.expiresAt <= world.now) return because('expired');
  return grant.calls.has(use.call) || grant.calls.size < grant.uses ? undefined : because('spent');
}

/** Takes a use for a call, once. */
export function takeUse(world: World, use: GrantUse | undefined): void {
  const grant = use && world.grants.get(use.id);
  if (use === undefined || grant === undefined || grant.calls.has(use.call)) return;
  grant.calls.add(use.call);
  const detail = `${grant.calls.size} of ${grant.uses} ${use.call}`;
  world.audited.push([world.now, 'grant-used', `grant:${use.id}`, detail].join(' '));
}

export function usesOf(world: World, use: GrantUse | undefined): number {
  return (use && world.grants.get(use.id)?.calls.size) ?? 0;
}

/** Opens the grant that the whole quorum of a request allows. */
export function openGrant(
  world: World,
  { forMs, details, ...offer }: GrantOffer,
  by: readonly string[],
): void {
  const signers = [...by].sort();
  const expiresAt = world.now + forMs;
  world.grants.set(offer.id, { ...offer, expiresAt, details: { by: signers, ...details }, calls: new Set() });
  const detail = `${offer.uses} uses by ${signers.join(' ')}`;
  world.audited.push([world.now, 'grant-opened', `grant:${offer.id}`, detail].join(' '));
}

/** Every call takes one use of a grant however often it is tried. */
export function grantModel(world: World): GrantVerbs {
  const audit = (id: string, event: string, detail: string) =>
    world.audited.push([world.now, event, `grant:${id}`, detail].join(' '));

  return {
    revokeGrant(id, { who, eligible, erases = false }) {
      const grant = world.grants.get(id);
      if (grant === undefined) return { outcome: 'unknown' };
      if (!eligible) return { outcome: 'not-eligible' };
      const used = grant.calls.size;
      if (grant.revokedBy === undefined) audit(id, 'grant-revoked', `${who} after ${used}`);
      grant.revokedBy ??= who;
      if (erases) Object.assign(grant, { revokedBy: who, details: {} });
      return { outcome: 'revoked', used };
    },

    listGrants: () =>
      [...world.grants.values()]
        .sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))
        .map(({ id, expiresAt, uses, details, calls, revokedBy }) => ({
          ...{ id, expiresAt, uses, used: calls.size, details, calls: [...calls].sort(), revokedBy },
        })),
  };
}
