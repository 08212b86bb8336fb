import type { Verbs, World } from './world.ts';

type GrantVerbs = Pick<Verbs, 'openGrant' | 'useGrant' | 'returnUse' | 'revokeGrant' | 'loadGrant'>;

/** A grant is opened once, and every call takes one use of it however often it is tried. */
export function grantModel(world: World): GrantVerbs {
  const audit = (id: string, event: string, detail: string) =>
    world.shard(0).audit.push([world.now, event, `grant:${id}`, detail].join(' '));

  return {
    openGrant(grant) {
      if (grant.expiresAt <= world.now) return { outcome: 'expired' };
      if (world.grants.has(grant.id)) return { outcome: 'opened' };
      world.grants.set(grant.id, { ...grant, calls: new Set() });
      audit(grant.id, 'grant-opened', `${grant.uses} uses`);
      return { outcome: 'opened' };
    },

    useGrant(id, call) {
      const grant = world.grants.get(id);
      if (grant === undefined) return { outcome: 'unknown' };
      if (grant.revokedBy !== undefined) return { outcome: 'revoked' };
      if (grant.expiresAt <= world.now) return { outcome: 'expired' };
      if (grant.calls.has(call)) return { outcome: 'used', used: grant.calls.size };
      if (grant.calls.size >= grant.uses) return { outcome: 'spent' };
      grant.calls.add(call);
      audit(id, 'grant-used', `${grant.calls.size} of ${grant.uses} ${call}`);
      return { outcome: 'used', used: grant.calls.size };
    },

    returnUse(id, call) {
      if (world.grants.get(id)?.calls.delete(call) === true) audit(id, 'grant-returned', call);
    },

    revokeGrant(id, { who, eligible }) {
      const grant = world.grants.get(id);
      if (grant === undefined) return { outcome: 'unknown' };
      if (!eligible) return { outcome: 'not-eligible' };
      const used = grant.calls.size;
      if (grant.revokedBy === undefined) audit(id, 'grant-revoked', `${who} after ${used}`);
      grant.revokedBy ??= who;
      return { outcome: 'revoked', used };
    },

    loadGrant(id) {
      const grant = world.grants.get(id);
      if (grant === undefined) return undefined;
      const { expiresAt, uses, details, calls, revokedBy } = grant;
      return { id, expiresAt, uses, used: calls.size, details, revokedBy };
    },
  };
}
