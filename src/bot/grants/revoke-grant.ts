import type { GrantRecord } from '../../store/port/grants.ts';
import type { BotContext } from '../context.ts';
import { mayDecide } from '../decisions/authorize.ts';
import { grantTexts } from '../texts/grants.ts';
import { grantDetailsOf } from './grant-details.ts';

type Context = Pick<BotContext, 'store' | 'directory' | 'agent'>;

/** Revokes a grant for one who may, and returns the sentence for them. */
export async function revokeGrant(
  { store, directory, agent }: Context,
  id: string,
  { who, id: click }: { readonly who: string; readonly id: string },
): Promise<string> {
  const grant = await store.loadGrant(id);
  const details = grant && grantDetailsOf(grant);
  if (details === undefined) return grantTexts.unknown;
  const people = [...details.principals, ...details.requesters, ...details.by, ...agent().admins];
  const permission = await mayDecide(directory.fresh(), who, people);
  const result = await store.revokeGrant(id, {
    who,
    eligible: permission.eligible,
    evidence: { click, ...permission.evidence },
  });
  if (result.outcome === 'revoked') {
    await store.redraw(details.requestId, `revoked ${id}`);
    return grantTexts.revoked(result.used);
  }
  return result.outcome === 'unknown' ? grantTexts.unknown : grantTexts.notYours;
}

/** Lists the grants that a person has signed, asked for, or as an admin may revoke. */
export async function grantsFor(
  { store, agent }: Pick<Context, 'store' | 'agent'>,
  who: string,
): Promise<GrantRecord[]> {
  const isAdmin = agent().admins.includes(who);
  return (await store.listGrants()).filter((grant) => {
    const { by = [], requesters = [] } = grantDetailsOf(grant) ?? {};
    return isAdmin || by.includes(who) || requesters.includes(who);
  });
}
