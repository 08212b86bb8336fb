import { describeError } from '../../agent/errors.ts';
import { parseCallerThread, webhookRow } from '../../engine/caller-threads.ts';
import { type RunningTurn, TurnLease } from '../../engine/turn-lease.ts';
import { inSpan } from '../../observe/tracing.ts';
import type { ClaimedTurn, TurnEnd } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { quarantineRows, tellOfQuarantine } from '../outbox/tell-admins.ts';
import { parseThreadId, placeIn } from '../slack/thread.ts';
import { adminTexts } from '../views/texts/notices.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { hasWebhook, isCallerThread, runCallerTurn } from './caller-turn.ts';
import { isModelHeld } from './hold-model.ts';
import { isPolicyThread, runPolicyChange } from './policy-change.ts';
import { unmarkQueued } from './queued-mark.ts';
import { runModel } from './run-model.ts';

/** Claims the next turn of a thread and runs it, if there is one and no other worker has it. */
export async function claimAndRunTurn(context: BotContext, threadId: string): Promise<void> {
  const { store, turns, timing, logger } = context;
  if (turns.handOver.aborted) return;
  const sentAt = performance.now();
  const claimed = await store.claimTurn(threadId, timing.leaseMs);
  if (claimed.outcome === 'quarantined') {
    logger.error({ threadId, reason: claimed.reason }, 'thread quarantined');
    await tellOfQuarantine(context, threadId, claimed.reason);
  }
  // The processes are gone and could not tell anybody themselves.
  if (claimed.outcome === 'died')
    await countFailure(context, { threadId, token: claimed.token }, adminTexts.processDied, 1);
  if (claimed.outcome === 'claimed')
    await runTurn(context, claimed.turn, sentAt, await traceOf(context, claimed.turn));
}

/** Finds the trace that a turn continues: that of a request that has ended, or that of the first message. */
async function traceOf({ store }: BotContext, { settled, inbox }: ClaimedTurn): Promise<string | undefined> {
  const [ended] = settled;
  const loaded = ended && (await store.load(ended.requestId));
  if (loaded?.outcome === 'found' && loaded.request.trace !== undefined) return loaded.request.trace;
  const trace = inbox[0]?.body.trace;
  return typeof trace === 'string' ? trace : undefined;
}

/**
 * Runs a claimed turn to its end and records it. The lease is renewed meanwhile; a lost lease or a Stop aborts the turn. `sentAt` is the
 * time before the claim was sent, by this process's monotonic clock; `parent` is the trace that the turn continues.
 */
export function runTurn(
  context: BotContext,
  turn: ClaimedTurn,
  sentAt: number,
  parent?: string,
): Promise<void> {
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'countersign',
    'gen_ai.provider.name': 'openai',
    'gen_ai.conversation.id': turn.threadId,
  };
  return inSpan('invoke_agent countersign', { parent, attributes }, async (span) => {
    const outcome = await runToEnd(context, turn, sentAt);
    span.setAttribute('countersign.turn.outcome', outcome);
  });
}

/** The ways in which a turn ends; a lost one is continued by another process. */
type TurnOutcome = 'ended' | 'suspended' | 'handed-over' | 'lost' | 'discarded' | 'failed';

async function runToEnd(context: BotContext, turn: ClaimedTurn, sentAt: number): Promise<TurnOutcome> {
  const { metrics } = context;
  let outcome: TurnOutcome = 'failed';
  try {
    outcome = await runClaimed(context, turn, sentAt);
    return outcome;
  } finally {
    metrics.count('countersign_turns_total', { outcome });
    metrics.time('countersign_turn_seconds', {}, (performance.now() - sentAt) / 1_000);
    if (outcome === 'lost') metrics.count('countersign_leases_lost_total', { kind: 'turn' });
  }
}

async function runClaimed(context: BotContext, turn: ClaimedTurn, sentAt: number): Promise<TurnOutcome> {
  const { store, turns, timing, logger } = context;
  const { threadId } = turn;
  const controller = turns.begin(turn);
  const lease = new TurnLease(timing.leaseMs, sentAt, controller, turns.handOver);
  const left: Parameters<RunningTurn['tidyUp']>[0][] = [];
  if (turn.isStopped) lease.stop();
  const renewing = setInterval(() => void renewLease(context, turn, lease), timing.renewMs);
  try {
    const tidyUp: RunningTurn['tidyUp'] = (what) => void left.push(what);
    const end = await runOf(threadId)(context, turn, { signal: controller.signal, lease, tidyUp });
    if (end === undefined || lease.isCut) {
      const released = lease.isLost ? { outcome: 'lost' } : await store.release(turn);
      logger.info({ threadId, ...released }, 'turn handed over');
      return lease.isLost ? 'lost' : 'handed-over';
    }
    const suspended = await store.suspend(turn, end);
    if (suspended.outcome !== 'suspended') {
      logger.warn({ threadId, ...suspended }, 'turn discarded');
      return 'discarded';
    }
    for (const what of left)
      await what.end().catch((err: unknown) => logger.warn({ threadId, err }, 'turn not tidied up'));
    await unmarkQueued(context, turn);
    return suspended.waiting > 0 ? 'suspended' : 'ended';
  } catch (err) {
    if (!lease.isCut) await countFailure(context, turn, adminTexts.turnFailed(describeError(err)));
    throw err;
  } finally {
    clearInterval(renewing);
    for (const what of left) what.leave();
    context.status.leave(parseThreadId(threadId));
    turns.end(threadId, controller);
  }
}

/** Runs a turn, unless a freeze holds the model: then its thread is told, and the turn is left as it is. */
async function runUnlessHeld(
  context: BotContext,
  turn: ClaimedTurn,
  running: RunningTurn,
): Promise<TurnEnd | undefined> {
  return (await isModelHeld(context, turn.threadId)) ? undefined : runModel(context, turn, running);
}

/** Chooses who works in a thread: the file whose change waits, a caller, or the model. */
function runOf(threadId: string): typeof runUnlessHeld {
  if (isCallerThread(threadId)) return runCallerTurn;
  return isPolicyThread(threadId) ? runPolicyChange : runUnlessHeld;
}

/** Failures in a row after which a thread is quarantined. */
const MOST_FAILURES = 5;

async function countFailure(
  context: BotContext,
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  reason: string,
  mostFailures = MOST_FAILURES,
): Promise<void> {
  const { store, timing, logger, agent } = context;
  const { threadId, token } = turn;
  const { caller } = parseCallerThread(threadId) ?? {};
  const text = caller === undefined ? replyTexts.quarantined : replyTexts.callerQuarantined(caller);
  const notice = {
    id: `${threadId}/${token}/quarantined`,
    body: { kind: 'notice', ...placeIn(threadId), text },
  };
  const told = hasWebhook(context, threadId) ? [webhookRow(threadId, `${token}/quarantined`)] : [];
  try {
    const notices = [notice, ...told, ...quarantineRows(agent().admins, threadId, reason)];
    const failure = { mostFailures, delayMs: timing.renewMs, reason, notices };
    const failed = await store.release(turn, failure);
    if (failed.outcome === 'quarantined') logger.error({ threadId, reason }, 'thread quarantined');
  } catch (err) {
    logger.warn({ threadId, err }, 'failure not counted');
  }
}

async function renewLease(
  { store, timing, logger }: BotContext,
  turn: ClaimedTurn,
  lease: TurnLease,
): Promise<void> {
  lease.checkTime();
  const sentAt = performance.now();
  try {
    const renewed = await store.renewLease(turn, timing.leaseMs);
    if (renewed.outcome === 'renewed') lease.renewed(sentAt);
    if (renewed.outcome === 'held') {
      lease.renewed(sentAt);
      lease.hold();
    }
    if (renewed.outcome === 'stopped') lease.stop();
    if (renewed.outcome === 'stale') lease.lose('another turn has the thread');
  } catch (err) {
    logger.warn({ threadId: turn.threadId, err }, 'lease renewal failed');
  }
}
