import { hash } from 'node:crypto';
import { canonicalJson, toJson } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { definitionDigest, policyDigest } from '../../tools/toolbox/request-digest.ts';
import { titleOf } from '../cards/card-details.ts';
import type { BotContext } from '../context.ts';
import { digestNow } from '../requests/bind-request.ts';
import { detailsOf } from '../requests/request-details.ts';
import { type GrantDetails, grantIdOf } from './grant-details.ts';

/**
 * Opens the grant that the whole quorum of a request has signed, once. It is opened only while everything is as it was approved: a tool
 * or a policy that has changed since leaves no grant.
 */
export async function openGrant(
  { store, toolbox }: Pick<BotContext, 'store' | 'toolbox'>,
  request: RequestRecord,
): Promise<void> {
  const { granted, decidedAt, threadId, requesters, barred, principals } = request;
  const details = detailsOf(request);
  const { interrupt, policy, presented, contextAuthors = [] } = details;
  const { name, input } = interrupt.toolRequest;
  const terms = policy?.grants;
  const entry = toolbox.find(name);
  const current = policy?.name === undefined ? undefined : toolbox.policy(policy.name);
  if (!granted || decidedAt === undefined || terms === undefined) return;
  if (entry === undefined || current === undefined) return;
  const bound = {
    entry,
    interrupt,
    presented,
    policy: current.name,
    threadId,
    requesters,
    contextAuthors,
    barred,
  };
  if (digestNow(toolbox, bound) !== request.digest) return;
  const { scope, when, forMs, uses } = terms;
  const stored = {
    ...{ requestId: request.id, threadId, scope, tool: name, title: titleOf(request) },
    definition: definitionDigest(entry),
    policy: current.name,
    policyDigest: policyDigest(current),
    requesters: [...requesters],
    contextAuthors: [...contextAuthors],
    by: request.votes.flatMap(({ who, decision, grants }) => (decision === 'approve' && grants ? [who] : [])),
    principals: [...principals],
    input: inputDigest(input),
    ...(when !== undefined && { when }),
  } satisfies GrantDetails;
  const id = grantIdOf(request.id);
  await store.openGrant({ id, uses, expiresAt: decidedAt + forMs, details: stored });
}

export function inputDigest(input: unknown): string {
  return hash('sha256', canonicalJson(toJson(input)));
}
