import type { Attempt, RequestRecord, Vote, VoteResult } from '../../store/port/store.ts';
import { type Action, runAction } from '../actions/run-action.ts';
import { approversOf, needsWorker, planAttempt } from '../actions/start-action.ts';
import { findAction, requesterProblem } from '../actions/start-problem.ts';
import type { BotContext } from '../context.ts';
import { hasPart, type Voter } from '../delegations/stand-ins.ts';
import { openGrant } from '../grants/open-grant.ts';
import { wouldComplete } from '../requests/approver-groups.ts';
import { detailsOf } from '../requests/request-details.ts';
import { delegationTexts } from '../texts/delegations.ts';
import { takeApprovalPlace } from './approval-rate.ts';
import { authorizeVote } from './authorize-vote.ts';
import type { Click, Notice } from './click.ts';
import { refusalText } from './refusal-text.ts';

/** An action that starts if the vote completes the quorum. */
interface PlannedStart {
  readonly action: Action;
  readonly attempt: Attempt;
}

/** A vote as a person casts it; `grants` allows the same again, where the policy has terms for it. */
interface CastVote {
  readonly decision: 'approve' | 'reject';
  readonly reason?: string | undefined;
  readonly grants?: boolean | undefined;
}

/** Records an approval or a rejection. An approval that completes the quorum starts the action in the same step and runs it here. */
export async function castVote(
  context: BotContext,
  request: RequestRecord,
  click: Click,
  { decision, reason = '', grants = false }: CastVote,
): Promise<Notice> {
  // The vote may start the action, so nothing cached counts; both checks share one look-up of each person.
  const fresh = { ...context, directory: context.directory.fresh() };
  const authorizing = authorizeVote(fresh, click, request);
  // Where nobody delegates, the person is checked and the start is planned at the same time.
  const standsFor = request.policy.delegation === true ? (await authorizing).standsFor : undefined;
  const [{ actor, problem, groups }, start] = await Promise.all([
    authorizing,
    decision === 'approve' ? planStart(fresh, request, { who: click.who, standsFor }) : undefined,
  ]);
  const isOffered = grants && detailsOf(request).policy?.grants !== undefined;
  // What somebody signs for another is signed for this request alone.
  const mayGrant = isOffered && standsFor === undefined;
  const vote = {
    ...{ ...actor, decision, shown: request.digest, reason, grants: mayGrant },
    ...(groups !== undefined && { groups }),
    ...(standsFor !== undefined && { standsFor }),
  };
  const isNew = decision === 'approve' && actor.eligible && !hasPart(request, click.who);
  const place = isNew ? await takeApprovalPlace(context, request, click) : undefined;
  if (place?.ok === false) return place.notice;
  const result = await recordVote(context, request.id, vote, start);
  if (result.outcome !== 'voted') await place?.giveBack();
  if (mayGrant && result.outcome === 'voted' && result.state !== 'pending')
    await openSigned(context, request.id);
  if (result.outcome === 'represented') return representedText(context, request.id, vote, result.by);
  if (result.outcome !== 'voted') return refusalText(result, problem);
  if (isOffered && !mayGrant) return delegationTexts.noGrant;
  const isRepeated = request.votes.some(
    (earlier) => earlier.who === click.who && earlier.decision === decision,
  );
  if (!isRepeated) return undefined;
  const { state } = result;
  return refusalText(
    state === 'pending' ? { outcome: 'repeated' } : { outcome: 'settled', state, by: request.by ?? '' },
  );
}

/** Says who has voted for the person, or in the place that they would vote in. */
async function representedText(
  { store }: Pick<BotContext, 'store'>,
  requestId: string,
  { who, standsFor }: Voter,
  by: string,
): Promise<string> {
  const loaded = await store.load(requestId);
  const votes = loaded.outcome === 'found' ? loaded.request.votes : [];
  if (votes.some((vote) => vote.who === by && vote.standsFor === who))
    return delegationTexts.decidedForYou(by);
  return by === standsFor ? delegationTexts.decidedThemselves(by) : delegationTexts.decidedInPlace(by);
}

/** Opens the grant of a request that the whole quorum has signed. */
async function openSigned(context: BotContext, requestId: string): Promise<void> {
  const loaded = await context.store.load(requestId);
  if (loaded.outcome === 'found') await openGrant(context, loaded.request);
}

/** Plans the start of an action whose quorum this approval may complete; `undefined` leaves the start to a woken worker. */
async function planStart(
  context: BotContext,
  request: RequestRecord,
  voter: Voter,
): Promise<PlannedStart | undefined> {
  if (request.state !== 'pending') return undefined;
  try {
    if (!(await wouldComplete(context.directory, request, voter))) return undefined;
    const action = await findAction(context, { ...request, by: voter.who });
    // A preview takes its time, and the click has to be acknowledged, so a worker computes it again.
    if (action === undefined || needsWorker(action)) return undefined;
    // A woken worker ends the request, or asks anew, instead of running it.
    if ((await requesterProblem(context, action)) !== undefined) return undefined;
    const attempt = await planAttempt(context, action, [...approversOf(request), voter]);
    return attempt.digest === request.digest ? { action, attempt } : undefined;
  } catch (err) {
    context.logger.debug({ requestId: request.id, err }, 'start left to a worker');
    return undefined;
  }
}

async function recordVote(
  context: BotContext,
  requestId: string,
  vote: Vote,
  start: PlannedStart | undefined,
): Promise<VoteResult> {
  const { store, turns, logger } = context;
  const release = start && turns.reserve();
  if (start === undefined || release === undefined) return store.vote(requestId, vote);
  const { action, attempt } = start;
  try {
    const sentAt = performance.now();
    const result = await store.voteAndStart(requestId, vote, attempt);
    if (result.outcome === 'voted' && result.started?.outcome === 'started')
      turns.runInBackground(
        action.request.threadId,
        () => runAction(context, action, { attempt: attempt.attempt, sentAt }),
        (err) => logger.warn({ requestId, err }, 'action failed'),
      );
    return result;
  } finally {
    release();
  }
}
