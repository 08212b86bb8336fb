import { describeError } from '../../agent/util/describe-error.ts';
import type { ClaimedTurn } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { quarantineRows, tellOfQuarantine } from '../delivery/tell-admins.ts';
import { parseThreadId } from '../slack/thread.ts';
import { unmarkQueued } from './queued-mark.ts';
import { runModel } from './run-model.ts';
import { TurnLease } from './turn-lease.ts';

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
  if (claimed.outcome === 'claimed') await runTurn(context, claimed.turn, sentAt);
}

/**
 * Runs a claimed turn to its end and records it. The lease is renewed meanwhile; a lost lease or a Stop aborts the turn. `sentAt` is the
 * time before the claim was sent, by this process's monotonic clock.
 */
export async function runTurn(context: BotContext, turn: ClaimedTurn, sentAt: number): Promise<void> {
  const { store, turns, timing, logger } = context;
  const { threadId } = turn;
  const controller = turns.begin(threadId);
  const lease = new TurnLease(timing.leaseMs, sentAt, controller, turns.handOver);
  const renewing = setInterval(() => void renewLease(context, turn, lease), timing.renewMs);
  try {
    const end = await runModel(context, turn, { signal: controller.signal, lease });
    if (lease.isCut) {
      const released = lease.isLost ? { outcome: 'lost' } : await store.release(turn);
      logger.info({ threadId, ...released }, 'turn handed over');
      return;
    }
    const suspended = await store.suspend(turn, end);
    if (suspended.outcome !== 'suspended') logger.warn({ threadId, ...suspended }, 'turn discarded');
    else await unmarkQueued(context, turn);
  } catch (err) {
    if (!lease.isCut) await countFailure(context, turn, err);
    throw err;
  } finally {
    clearInterval(renewing);
    context.status.leave(parseThreadId(threadId));
    turns.end(threadId, controller);
  }
}

/** Failures in a row after which a thread is quarantined. */
const MOST_FAILURES = 5;

async function countFailure(
  { store, timing, logger, agent }: BotContext,
  turn: ClaimedTurn,
  error: unknown,
): Promise<void> {
  const { threadId, token } = turn;
  const { channel, threadTs } = parseThreadId(threadId);
  const text = "I can't continue this thread: it failed several times in a row. An admin has been told.";
  const notice = {
    id: `${threadId}/${token}/quarantined`,
    body: { kind: 'notice', channel, threadTs, text },
  };
  const reason = `The turn failed: ${describeError(error)}`;
  try {
    const notices = [notice, ...quarantineRows(agent().admins, threadId, reason)];
    const failure = { mostFailures: MOST_FAILURES, delayMs: timing.renewMs, reason, notices };
    const failed = await store.failTurn(turn, failure);
    if (failed.outcome === 'quarantined') logger.error({ threadId, err: error }, 'thread quarantined');
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
    if (renewed.outcome === 'stopped') lease.stop();
    if (renewed.outcome === 'stale') lease.lose('another turn has the thread');
  } catch (err) {
    logger.warn({ threadId: turn.threadId, err }, 'lease renewal failed');
  }
}
