import { randomUUID } from 'node:crypto';
import type { Attempt, RequestRecord } from '../../store/port/store.ts';
import { limitInWords } from '../../tools/gate/limits.ts';
import type { BotContext } from '../context.ts';
import { mayVote, type Voter } from '../delegations/stand-ins.ts';
import { giveBackLimits, reserveLimits } from '../limits/reserve-limits.ts';
import { approvableGroups } from '../requests/approver-groups.ts';
import { previewOf } from '../requests/plan/present-call.ts';
import { CHANGED, previewChangedPayload } from '../requests/replies-to.ts';
import { detailsOf } from '../requests/request-details.ts';
import { cardTexts } from '../texts/cards.ts';
import { type Action, limitedCallOf, runAction } from './run-action.ts';
import { currentDigest, findAction, problemAtStart } from './start-problem.ts';

/**
 * Starts and runs an approved action in a woken worker, or ends one that may not start. One that was started before does not end: its
 * timer looks for the outcome.
 */
export async function startApprovedAction(context: BotContext, requestId: string): Promise<void> {
  const { store } = context;
  // The last check before the effect, so nothing cached counts.
  const fresh = { ...context, directory: context.directory.fresh() };
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found' || loaded.request.state !== 'approved') return;
  const action = await findAction(context, loaded.request);
  if (action === undefined) {
    const { name } = detailsOf(loaded.request).interrupt.toolRequest;
    await store.supersede(requestId, `there is no tool "${name}" any more`);
    return;
  }
  const problem = await problemAtStart(fresh, action);
  if (problem !== undefined) {
    await store.supersede(requestId, problem);
    return;
  }
  // An earlier attempt may have made the change itself, so only the first one is compared with its preview.
  const former = loaded.request.attempts > 0 ? undefined : await outdatedPreview(action);
  if (former !== undefined) {
    await store.supersede(requestId, previewChangedPayload(former));
    return;
  }
  const attempt = await planAttempt(fresh, action, approversOf(loaded.request));
  const call = limitedCallOf(action);
  const limit = await reserveLimits(context, call, attempt.attempt, action.details.policy?.name);
  if (limit !== undefined) {
    await store.supersede(requestId, `${CHANGED}\n${cardTexts.overLimit(limitInWords(limit))}`);
    return;
  }
  const sentAt = performance.now();
  const started = await store.start(requestId, attempt);
  if (started.outcome !== 'started') await giveBackLimits(store, call, attempt.attempt);
  if (started.outcome === 'started') await runAction(context, action, { attempt: attempt.attempt, sentAt });
}

/** Computes the preview of an action again, and returns the one that people approved if it is no longer true. */
async function outdatedPreview({
  request: { threadId, requesters },
  details: { presented, interrupt, contextAuthors = [] },
  entry,
}: Action): Promise<{ before: string; after: string } | undefined> {
  const approved = presented?.preview;
  if (approved === undefined) return undefined;
  const people = { threadId, requesters, contextAuthors };
  const current = await previewOf(entry, interrupt.toolRequest.input, people);
  if (JSON.stringify(current) === JSON.stringify(approved)) return undefined;
  return approved.outcome === 'shown' ? approved : { before: '', after: '' };
}

/** Tells whether an action needs more than its record before the start: a preview is computed again, and limits are counted. */
export function needsWorker({ details, entry }: Action): boolean {
  return details.presented?.preview !== undefined || entry.limits.length > 0;
}

/** Lists the people whose approval is on record, and in whose place. */
export function approversOf({ votes }: RequestRecord): readonly Voter[] {
  return votes.filter(({ decision }) => decision === 'approve');
}

/**
 * Builds the attempt that a start records: the digest of what would run by the current manifest, and the approvers who are still
 * eligible in Slack, by a directory that the caller made fresh; an approval in the place of somebody counts as long as that person is an
 * approver, also after the delegation has ended. Throws if Slack cannot be asked; the action then stays approved and is tried again.
 */
export async function planAttempt(
  context: BotContext,
  action: Action,
  approvers: readonly Voter[],
): Promise<Attempt> {
  const { directory } = context;
  const { policy } = action.request;
  const checked = await Promise.all(
    approvers.map(async (voter) => ({ ...voter, ...(await mayVote(directory, voter, action.request)) })),
  );
  if (checked.some((person) => !person.eligible && !person.checked))
    throw new Error('The approvers could not be checked');
  const eligible = checked.filter((person) => person.eligible);
  const memberships = await Promise.all(
    eligible.map(
      async ({ who, standsFor }) =>
        [who, await approvableGroups(directory, standsFor ?? who, action.request)] as const,
    ),
  );
  return {
    attempt: randomUUID(),
    tool: action.entry.tool.name,
    digest: currentDigest(context, action),
    heartbeatTimeoutMs: context.timing.heartbeatTimeoutMs,
    stillEligible: eligible.map(({ who }) => who),
    ...(policy.groups !== undefined && {
      groups: Object.fromEntries(memberships.map(([who, groups = []]) => [who, groups])),
    }),
    evidence: Object.fromEntries(checked.map(({ who, evidence }) => [who, evidence])),
  };
}
