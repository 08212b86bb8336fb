import type { Attempt, RequestRecord, Vote, VoteAndStartResult } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { detailsOf } from '../request-details.ts';
import { type Action, approversOf, carryOut, planAttempt } from '../run-action.ts';

/** An approval that may be the last one: what would run, made ready beside the check of who approves. */
export type ReadyAction = (vote: Vote) => Promise<VoteAndStartResult>;

/**
 * Makes an action ready to run here with somebody's approval, where that one is the last that is needed: vote and start are one
 * step on the record, and the action then runs beside whoever called. Where anything is in its way this gives nothing; the vote
 * goes its own way then, and whoever is woken looks into it.
 */
export async function readyToRun(
  parts: BotParts,
  request: RequestRecord,
  who: string,
): Promise<ReadyAction | undefined> {
  const { toolbox, turns } = parts;
  if (request.state !== 'pending' || request.approvals + 1 < request.policy.quorum) return undefined;
  const details = detailsOf(request);
  const entry = toolbox.find(details.interrupt.toolRequest.name);
  if (entry === undefined) return undefined;
  const release = turns.reserve();
  if (release === undefined) return undefined;
  const action = { request: { ...request, by: who }, details, entry };
  try {
    const attempt = await planAttempt(parts, action, [...approversOf(request), who]);
    return (vote) => voteAndRun(parts, action, vote, attempt).finally(release);
  } catch {
    release();
    return undefined;
  }
}

async function voteAndRun(
  parts: BotParts,
  action: Action,
  vote: Vote,
  attempt: Attempt,
): Promise<VoteAndStartResult> {
  const { store, turns, logger } = parts;
  const { id, threadId } = action.request;
  const sentAt = performance.now();
  const result = await store.voteAndStart(id, vote, attempt);
  if (result.outcome === 'voted' && result.started?.outcome === 'started') {
    const running = carryOut(parts, action, { attempt: attempt.attempt, sentAt });
    running.catch((err) => logger.warn({ requestId: id, err }, 'an action broke off'));
    turns.goOn(threadId, running);
  }
  return result;
}
