import { randomUUID } from 'node:crypto';
import type { StartPlan } from '../../../engine/admit.ts';
import { wouldComplete } from '../../../engine/asks/approver-groups.ts';
import { grantOffer } from '../../../engine/asks/grants.ts';
import { attemptOf, begin, carryOut } from '../../../engine/execute.ts';
import type { Assertion } from '../../../engine/passkeys.ts';
import type { Voter } from '../../../engine/ports.ts';
import { detailsOf, readDetails } from '../../../engine/request-details.ts';
import { approvedRun } from '../../../engine/run.ts';
import { policiesNamed } from '../../../policy/policy.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { VoteResult } from '../../../store/port/results.ts';
import type { Vote } from '../../../store/port/values.ts';
import type { BotContext } from '../../context.ts';
import type { Directory } from '../../slack/directory.ts';
import { executorContext } from '../../turn-context.ts';
import { delegationTexts } from '../../views/texts/delegations.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { passkeyTexts } from '../../views/texts/passkeys.ts';
import { planTexts } from '../../views/texts/plans.ts';
import { authorizeVote } from './authorize.ts';
import type { Click, Notice } from './click.ts';
import { askForPasskey, checkSigned } from './passkey-vote.ts';
import { onlyApprovers, refusalText } from './refusal-text.ts';
import { chosenIn, isAsShown } from './shown-choice.ts';

const HOUR_MS = 3_600_000;

/** A vote as a person casts it; `grants` allows the same again, where the policy has terms for it. */
interface CastVote {
  readonly decision: 'approve' | 'reject';
  readonly reason?: string | undefined;
  readonly grants?: boolean | undefined;
  /** The steps that the person leaves in a plan, by number. */
  readonly steps?: readonly number[] | undefined;
  /** The beginning of the digest of the plan that the person saw; without it, they saw the whole plan. */
  readonly shown?: string | undefined;
  /** The answer of the person's passkey. */
  readonly assertion?: Assertion | undefined;
}

/** Records an approval or a rejection. An approval that completes the quorum starts the action in the same step and runs it here. */
export async function castVote(
  context: BotContext,
  request: RequestRecord,
  click: Click,
  { decision, reason = '', grants = false, steps, shown, assertion }: CastVote,
): Promise<Notice> {
  const chosen = chosenIn(request, steps);
  if (decision === 'approve' && chosen === undefined && !isAsShown(request, shown)) return planTexts.narrowed;
  // The vote may start the action, so nothing cached counts; both checks share one look-up of each person.
  const directory = context.directory.fresh();
  const authorizing = authorizeVote({ ...context, directory }, click, request);
  // Where nobody delegates, the person is checked and the start is planned at the same time.
  const isKnownFirst = request.policy.delegation === true || assertion !== undefined;
  const { standsFor, delegation } = isKnownFirst ? await authorizing : { standsFor: undefined };
  const isOffered = grants && detailsOf(request).facets.grants !== undefined;
  // What somebody signs for another is signed for this request alone.
  const mayGrant = isOffered && standsFor === undefined;
  const offer = mayGrant ? await grantOffer(context, withChoice(request, chosen)) : undefined;
  const rates = approvalRates(context, request, click.who);
  const checked =
    assertion === undefined
      ? undefined
      : await checkSigned(context, request, click, assertion, {
          standsFor,
          delegation,
          grants: offer !== undefined,
          chosen,
        });
  if (checked !== undefined && 'refusal' in checked) return passkeyTexts.refused[checked.refusal];
  const proof = checked?.proof;
  const voter = { who: click.who, standsFor, proof: proof?.body };
  const voting = authorizing.then(({ actor, groups }) => ({
    ...actor,
    decision,
    shown: request.digest,
    reason,
    ...(offer !== undefined && { grants: offer }),
    ...(groups !== undefined && { groups }),
    ...(standsFor !== undefined && { standsFor }),
    ...(chosen !== undefined && { chosen }),
    ...(proof !== undefined && { proof }),
    rates,
  }));
  // A plan is started step by step, and what its caller runs itself is started by the caller.
  const startsHere = request.steps === undefined && request.execution.elsewhere !== true;
  const isProven = request.policy.passkey !== true || proof !== undefined;
  const recording =
    decision === 'approve' && startsHere && isProven
      ? voteAndStart(context, withChoice(request, chosen), voter, { directory, voting })
      : voting.then((vote) => context.store.vote(request.id, vote));
  const [result, { problem }] = await Promise.all([recording, authorizing, voting]);
  if (result.outcome === 'not-proven')
    return askForPasskey(context, {
      requestId: request.id,
      who: click.who,
      grants: mayGrant,
      steps: steps && [...steps],
      shown,
      reason,
    });
  if (result.outcome === 'link-used' || result.outcome === 'keys-changed')
    return passkeyTexts.refused[result.outcome];
  if (result.outcome === 'too-many')
    return noticeTexts.approvalsPerHour(Math.min(...rates.map(({ max }) => max)));
  if (result.outcome === 'represented') return representedText(context, request.id, voter, result.by);
  if (result.outcome !== 'voted') return refusalText(result, problem, onlyApprovers(request));
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

/** Returns a request as it is once a vote has chosen. */
function withChoice(request: RequestRecord, chosen: Vote['chosen']): RequestRecord {
  return chosen === undefined ? request : { ...request, chosen: chosen.steps, digest: chosen.digest };
}

/** Returns the limits of a person's approvals in an hour, one for each policy of a request; the vote itself counts. */
function approvalRates(
  { toolbox }: Pick<BotContext, 'toolbox'>,
  request: RequestRecord,
  who: string,
): NonNullable<Vote['rates']> {
  const name = readDetails(request)?.policy?.name ?? '';
  return policiesNamed(name).flatMap((policy) => {
    const max = toolbox.policy(policy)?.load?.approvalsPerHour;
    const key = `approvals/${encodeURIComponent(policy)}/${who}`;
    return max === undefined ? [] : [{ key, max, windowMs: HOUR_MS }];
  });
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

/**
 * Records an approval and, if it completes the quorum, starts the Run in the same step and carries it out here. The checks of the start
 * are made beside those of the person; a Run that they refuse, or that needs longer than a click has, is left to a woken worker.
 */
async function voteAndStart(
  context: BotContext,
  request: RequestRecord,
  voter: Voter,
  { directory, voting }: { readonly directory: Directory; readonly voting: Promise<Vote> },
): Promise<VoteResult> {
  const { store, turns, logger } = context;
  const executor = executorContext(context, directory);
  const attempt = randomUUID();
  let release: (() => void) | undefined;
  let voted: Promise<{ readonly result: VoteResult }> | undefined;
  const planAndVote = async () => {
    if (request.state !== 'pending' || !(await wouldComplete(directory, request, voter))) return undefined;
    const run = await approvedRun(executor, { ...request, by: voter.who }, [voter]);
    const start = async (plan: StartPlan) => {
      const vote = await voting;
      release = turns.reserve();
      const planned = release === undefined ? undefined : attemptOf(executor, run, plan, attempt);
      const result = await store.vote(request.id, vote, planned);
      const isStarted = result.outcome === 'voted' && result.started?.outcome === 'started';
      return { outcome: result.outcome, result, isStarted };
    };
    const begun = await begin(executor, run, (plan) => (voted = start(plan)), { isQuick: true });
    return begun.outcome === 'begun' ? { run, ...begun } : undefined;
  };
  try {
    const begun = await planAndVote().catch((err: unknown) => {
      logger.debug({ requestId: request.id, err }, 'start left to a worker');
      return undefined;
    });
    const result = (await voted)?.result ?? (await store.vote(request.id, await voting));
    if (begun?.reply.isStarted === true)
      turns.runInBackground(
        request.threadId,
        () => carryOut(executor, begun.run, { attempt, sentAt: begun.sentAt }),
        (err) => logger.warn({ requestId: request.id, err }, 'action failed'),
      );
    return result;
  } finally {
    release?.();
  }
}
