import type { JsonObject } from '../../agent/json.ts';
import { coversCall, fillAllGroups, inputDigest } from '../../policy/grants.ts';
import { confirmFor, isSeparated, riskOf } from '../../policy/policy.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { Store } from '../../store/port/store.ts';
import type { GrantOffer, GrantRecord } from '../../store/port/workspace.ts';
import { callerNamed } from '../../tools/callers.ts';
import type { FindGrant } from '../../tools/gate.ts';
import { definitionDigest, policyDigest } from '../../tools/toolbox/request-digest.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { digestNow } from '../bind-request.ts';
import { type GrantDetails, grantDetailsOf, grantIdOf } from '../grant-evidence.ts';
import { readPasskeys } from '../passkeys.ts';
import type { Directory } from '../ports.ts';
import { detailsOf } from '../request-details.ts';
import { groupsFor, resolveGroups } from './approver-groups.ts';
import { mayDecide } from './may-decide.ts';

interface Context {
  readonly store: Store;
  readonly toolbox: Toolbox;
  readonly directory: Directory;
}
type Call = Parameters<FindGrant>[0];

/** Looks for a grant that a call of a toolbox fits; returns the evidence for the record. The script that starts the call takes the use. */
export function grantFinder({ store, directory }: Omit<Context, 'toolbox'>): (toolbox: Toolbox) => FindGrant {
  return (toolbox) => async (call, policyName) => {
    for (const grant of (await store.listGrants()).filter(holds)) {
      const details = grantDetailsOf(grant);
      if (details === undefined || !(await fits({ store, directory, toolbox }, details, call, policyName)))
        continue;
      // The call may have taken the last use itself, before it was tried again; its start knows.
      if (grant.used >= grant.uses && !grant.calls.includes(call.key)) continue;
      const { by, requesters } = details;
      return { grant: grant.id, by, uses: grant.uses, call: call.key, requesters } satisfies JsonObject;
    }
    return undefined;
  };
}

/** One whose uses are spent holds too: a call that has taken one may be tried again. */
function holds({ revokedBy, expiresAt }: GrantRecord): boolean {
  return revokedBy === undefined && expiresAt > Date.now();
}

/** Tells whether a grant is for a call, and whether those who signed it may still approve it. */
async function fits(
  { store, toolbox, directory }: Context,
  grant: GrantDetails,
  call: Call,
  policyName: string,
): Promise<boolean> {
  const entry = toolbox.find(call.tool);
  const policy = toolbox.policy(policyName);
  if (entry === undefined || policy === undefined || grant.tool !== call.tool) return false;
  const fresh = directory.fresh();
  const resolved = await resolveGroups({ directory: fresh, toolbox }, policy, {
    ...call,
    timeZone: policy.timeZone,
  });
  if (!resolved.ok) return false;
  const { groups, excluded } = resolved;
  const now = {
    call,
    definition: definitionDigest(entry),
    policy,
    policyDigest: policyDigest(policy),
    groups,
  };
  // What was pre-approved for a caller is for that caller, and not for its owner alone.
  const isForCaller = grant.requesters.every(
    (id) => callerNamed(id) === undefined || call.requesters.includes(id),
  );
  if (!isForCaller || !coversCall(grant, now) || grant.by.some((who) => isSeparated(policy, call, who)))
    return false;
  const risk = riskOf(policy.risk, { ...call, timeZone: policy.timeZone });
  if (!(await isSigned(store, grant, confirmFor(policy.confirm, risk) === 'passkey'))) return false;
  const principals = groups.flatMap(({ any }) => any);
  const signers = await Promise.all(
    grant.by.map(async (who) => ({
      who,
      permission: await mayDecide(fresh, who, grant.principals, excluded),
      groups: await groupsFor(fresh, who, { groups, principals, all: grant.principals }).catch(() => []),
    })),
  );
  return signers.every(({ permission }) => permission.eligible) && fillAllGroups(groups, signers);
}

/** Tells whether the people behind a grant still have the passkeys that signed it; a call that needs passkeys does not run without them. */
async function isSigned(
  store: Context['store'],
  { by, keys = {} }: GrantDetails,
  needsKeys: boolean,
): Promise<boolean> {
  const held = await Promise.all(
    by.map(async (who) => {
      const credential = keys[who];
      if (credential === undefined) return !needsKeys;
      return (await readPasskeys(store, who)).keys.some(({ key }) => key.credential === credential);
    }),
  );
  return held.every(Boolean);
}

/**
 * Builds the grant that a person allows with an approval. There is none unless everything is as the person was shown: who allows the same
 * again does not allow what a tool or a policy has become since.
 */
export async function grantOffer(
  { toolbox }: Pick<Context, 'toolbox'>,
  request: RequestRecord,
): Promise<GrantOffer | undefined> {
  const { threadId, requesters, barred, principals } = request;
  const { interrupt, policy, presented, facets, terms, purpose } = detailsOf(request);
  const { grants, context: contextAuthors = [] } = facets;
  const { name, input } = interrupt.toolRequest;
  if (grants === undefined) return undefined;
  await toolbox.refreshPeople([...requesters, ...contextAuthors]);
  const entry = toolbox.find(name);
  const current = policy?.name === undefined ? undefined : toolbox.policy(policy.name);
  if (entry === undefined || current === undefined) return undefined;
  const people = { requesters, contextAuthors, barred };
  const bound = { entry, interrupt, presented, facets, terms, policy: current.name, threadId, ...people };
  if (digestNow(toolbox, bound) !== request.digest) return undefined;
  const { scope, when, covers, forMs, uses } = grants;
  const details = {
    requestId: request.id,
    threadId,
    scope,
    tool: name,
    title: purpose ?? presented.title,
    definition: definitionDigest(entry),
    policy: current.name,
    policyDigest: policyDigest(current),
    requesters: [...requesters],
    contextAuthors: [...contextAuthors],
    groups: groupsOf(request.policy),
    principals: [...principals],
    input: inputDigest(input),
    ...(when !== undefined && { when }),
    ...(covers !== undefined && { covers }),
  } satisfies Omit<GrantDetails, 'by' | 'keys'>;
  return { id: grantIdOf(request.id), uses, forMs, details };
}

/** Lists the approver groups of a request; a policy without groups is one group. */
function groupsOf({ groups, principals, quorum }: RequestRecord['policy']): GrantDetails['groups'] {
  return (groups ?? [{ any: principals, quorum }]).map(({ any, quorum: needed }) => ({
    any: [...any],
    quorum: needed,
  }));
}

/** The end of an attempt to revoke a grant. */
export type RevokedGrant =
  | { readonly outcome: 'revoked'; readonly used: number }
  | { readonly outcome: 'unknown' | 'not-yours' };

type RevokeContext = Pick<Context, 'store' | 'directory'> & {
  readonly agent: () => { readonly admins: readonly string[] };
};

/** Revokes a grant for one who may. */
export async function revokeGrant(
  { store, directory, agent }: RevokeContext,
  id: string,
  { who, id: click }: { readonly who: string; readonly id: string },
): Promise<RevokedGrant> {
  const grant = (await store.listGrants()).find((each) => each.id === id);
  const details = grant && grantDetailsOf(grant);
  if (details === undefined) return { outcome: 'unknown' };
  const people = [...details.principals, ...details.requesters, ...details.by, ...agent().admins];
  const permission = await mayDecide(directory.fresh(), who, people);
  const result = await store.revokeGrant(id, {
    who,
    eligible: permission.eligible,
    evidence: { click, ...permission.evidence },
  });
  if (result.outcome === 'revoked') {
    await store.redraw(details.requestId, { cause: `revoked ${id}` });
    return { outcome: 'revoked', used: result.used };
  }
  return { outcome: result.outcome === 'unknown' ? 'unknown' : 'not-yours' };
}

/** Lists the grants that a person has signed, asked for, or as an admin may revoke. */
export async function grantsFor(
  { store, agent }: Pick<RevokeContext, 'store' | 'agent'>,
  who: string,
): Promise<GrantRecord[]> {
  const isAdmin = agent().admins.includes(who);
  return (await store.listGrants()).filter(holds).filter((grant) => {
    const { by = [], requesters = [] } = grantDetailsOf(grant) ?? {};
    return isAdmin || by.includes(who) || requesters.includes(who);
  });
}
