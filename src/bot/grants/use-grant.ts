import { z } from 'zod';
import type { JsonObject } from '../../agent/json.ts';
import { compileCondition } from '../../tools/gate/condition.ts';
import type { UseGrant } from '../../tools/gate/gate.ts';
import { riskOf } from '../../tools/gate/risk.ts';
import { definitionDigest, policyDigest } from '../../tools/toolbox/request-digest.ts';
import type { BotContext } from '../context.ts';
import { mayDecide } from '../decisions/authorize.ts';
import { type GrantDetails, grantDetailsOf } from './grant-details.ts';
import { inputDigest } from './open-grant.ts';

type Context = Pick<BotContext, 'store' | 'toolbox' | 'directory'>;
type Call = Parameters<UseGrant>[0];

/** The evidence of a call that runs under a grant. */
export const GrantEvidence = z.object({
  grant: z.string(),
  by: z.array(z.string()),
  used: z.number(),
  uses: z.number(),
  call: z.string(),
});

/** Looks for a grant that a call fits, and takes a use of it; returns the evidence for the record. */
export function grantUser(context: () => Context): UseGrant {
  return async (call, policyName) => {
    const { store } = context();
    for (const grant of await store.listGrants()) {
      const details = grantDetailsOf(grant);
      if (details === undefined || !(await fits(context(), details, call, policyName))) continue;
      const { requesters, tool } = details;
      const evidence: JsonObject = { call: call.key, thread: call.threadId, tool, requesters };
      const result = await store.useGrant(grant.id, call.key, evidence);
      if (result.outcome !== 'used') continue;
      const { uses } = grant;
      return { grant: grant.id, by: details.by, used: result.used, uses, call: call.key };
    }
    return undefined;
  };
}

/** Tells whether a grant is for a call: the same tool and policy as they were signed, and nobody in it whom it was not signed for. */
async function fits(
  { toolbox, directory }: Context,
  grant: GrantDetails,
  call: Call,
  policyName: string,
): Promise<boolean> {
  const { tool, requesters, contextAuthors, threadId } = call;
  const entry = toolbox.find(tool);
  const policy = toolbox.policy(policyName);
  if (entry === undefined || policy?.grants === undefined) return false;
  if (grant.tool !== tool || grant.policy !== policyName) return false;
  if (grant.definition !== definitionDigest(entry) || grant.policyDigest !== policyDigest(policy))
    return false;
  if (grant.scope === 'thread' && grant.threadId !== threadId) return false;
  const everyone = [...grant.requesters, ...grant.contextAuthors];
  if (requesters.length === 0 || !requesters.every((person) => grant.requesters.includes(person)))
    return false;
  if (!contextAuthors.every((person) => everyone.includes(person))) return false;
  if (riskOf(policy.risk, { ...call, timeZone: policy.timeZone }) === 'high') return false;
  if (!isMeant(grant, { ...call, timeZone: policy.timeZone })) return false;
  const fresh = directory.fresh();
  const signers = await Promise.all(
    grant.by.map((who) => mayDecide(fresh, who, grant.principals, policy.excluded)),
  );
  return signers.every(({ eligible }) => eligible);
}

/** Without a condition only the same arguments are meant. One that cannot be evaluated means none. */
function isMeant({ when, input }: GrantDetails, call: Call & { readonly timeZone: string }): boolean {
  if (when === undefined) return inputDigest(call.input) === input;
  return call.requesters.every((requester) => compileCondition(when)({ ...call, requester }) === true);
}
