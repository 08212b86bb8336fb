import { randomUUID } from 'node:crypto';
import type { Attempt, RequestRecord } from '../../store/port/store.ts';
import { requestDigest } from '../../tools/toolbox/request-digest.ts';
import type { BotContext } from '../context.ts';
import { mayDecide } from '../decisions/authorize.ts';
import { policyJson, snapshotOf } from '../requests/policy-snapshot.ts';
import { previewOf } from '../requests/present-call.ts';
import { previewChangedPayload, REQUESTER_INACTIVE } from '../requests/replies-to.ts';
import { detailsOf, presentedJson } from '../requests/request-details.ts';
import { isSlackPerson } from '../slack/directory.ts';
import { parseThreadId } from '../slack/thread.ts';
import { askerProblem } from '../turns/may-ask.ts';
import { type Action, runAction } from './run-action.ts';

/** Starts and runs an approved action in a woken worker. */
export async function startApprovedAction(context: BotContext, requestId: string): Promise<void> {
  const { store } = context;
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'approved') return;
  const action = findAction(context, loaded.request);
  if (action === undefined) {
    const { name } = detailsOf(loaded.request).interrupt.toolRequest;
    await store.supersede(requestId, `there is no tool "${name}" any more`);
    return;
  }
  if (await hasInactiveRequester(context, loaded.request)) {
    await store.supersede(requestId, REQUESTER_INACTIVE);
    return;
  }
  const former = await outdatedPreview(action);
  if (former !== undefined) {
    await store.supersede(requestId, previewChangedPayload(former));
    return;
  }
  const attempt = await planAttempt(context, action, approversOf(loaded.request));
  const sentAt = performance.now();
  const started = await store.start(requestId, attempt);
  if (started.outcome === 'started') await runAction(context, action, { attempt: attempt.attempt, sentAt });
}

/** Computes the preview of an action again, and returns the one that people approved if it is no longer true. */
async function outdatedPreview({
  request: { threadId, requesters },
  details: { presented, interrupt },
  entry,
}: Action): Promise<{ before: string; after: string } | undefined> {
  const approved = presented?.preview;
  if (approved === undefined) return undefined;
  const people = { threadId, requesters, contextAuthors: [] };
  const current = await previewOf(entry, interrupt.toolRequest.input, people);
  if (JSON.stringify(current) === JSON.stringify(approved)) return undefined;
  return approved.outcome === 'shown' ? approved : { before: '', after: '' };
}

/** Tells whether an action has a preview, which has to be computed again before the start. */
export function hasPreview({ details }: Action): boolean {
  return details.presented?.preview !== undefined;
}

/** Checks in Slack, freshly, whether a requester is deactivated or may no longer ask; throws if Slack cannot be asked. */
export async function hasInactiveRequester(
  { directory, agent }: Pick<BotContext, 'directory' | 'agent'>,
  { requesters, threadId }: RequestRecord,
): Promise<boolean> {
  const fresh = directory.fresh();
  const { channel } = parseThreadId(threadId);
  const people = requesters.filter(isSlackPerson);
  const problems = await Promise.all(
    people.map((user) => askerProblem(fresh, agent().askers, { user, channel })),
  );
  return problems.some((problem) => problem !== undefined);
}

/** Joins a request with its tool; `undefined` if the tool is gone. */
export function findAction({ toolbox }: BotContext, request: RequestRecord): Action | undefined {
  const details = detailsOf(request);
  const entry = toolbox.find(details.interrupt.toolRequest.name);
  return entry && { request, details, entry };
}

/** Lists the people whose approval is on record. */
export function approversOf({ votes }: RequestRecord): string[] {
  return votes.filter(({ decision }) => decision === 'approve').map(({ who }) => who);
}

/**
 * Builds the attempt that a start records: the digest of what would run by the current manifest, and the approvers who are still
 * eligible in Slack. Throws if Slack cannot be asked; the action then stays approved and is tried again.
 */
export async function planAttempt(
  context: BotContext,
  action: Action,
  approvers: readonly string[],
): Promise<Attempt> {
  // The last check before the effect, so nothing cached counts.
  const directory = context.directory.fresh();
  const { principals } = action.request;
  const checked = await Promise.all(
    approvers.map(async (who) => ({ who, ...(await mayDecide(directory, who, principals)) })),
  );
  if (checked.some((person) => !person.eligible && !person.checked))
    throw new Error('The approvers could not be checked');
  return {
    attempt: randomUUID(),
    digest: currentDigest(context, action),
    heartbeatTimeoutMs: context.timing.heartbeatTimeoutMs,
    stillEligible: checked.filter(({ eligible }) => eligible).map(({ who }) => who),
    evidence: Object.fromEntries(checked.map(({ who, evidence }) => [who, evidence])),
  };
}

function currentDigest({ toolbox }: BotContext, { request, details, entry }: Action): string {
  const policy = toolbox.policy(details.policy?.name ?? '');
  return requestDigest({
    entry,
    // A removed policy is a changed policy.
    policy: policy === undefined ? {} : policyJson(snapshotOf(policy)),
    input: details.interrupt.toolRequest.input,
    requesters: request.requesters,
    threadId: request.threadId,
    presented: presentedJson(details.presented),
  });
}
