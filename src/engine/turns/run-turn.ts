import type { ClaimedTurn, TurnEnd } from '../../store/port/values.ts';
import { parseCallerThread } from '../caller-threads.ts';
import type { TurnFailure } from '../ports.ts';
import { type RunningTurn, TurnLease } from '../turn-lease.ts';
import { runCallerTurn } from './caller-turn.ts';
import { isModelHeld } from './hold-model.ts';
import { runModel } from './run-model.ts';
import { type TurnContext, type TurnOutcome, tryToTell } from './turn-context.ts';

/** Claims the next turn of a thread and runs it, if there is one and no other worker has it. */
export async function claimAndRunTurn(context: TurnContext, threadId: string): Promise<void> {
  const { store, turns, timing, logger } = context;
  if (turns.handOver.aborted) return;
  const sentAt = performance.now();
  const claimed = await store.claimTurn(threadId, timing.leaseMs);
  if (claimed.outcome === 'quarantined') {
    const { reason } = claimed;
    logger.error({ threadId, reason }, 'thread quarantined');
    await tryToTell(context, threadId, { code: 'unreadable', reason });
  }
  // The processes are gone and could not tell anybody themselves.
  if (claimed.outcome === 'died')
    await countFailure(context, { threadId, token: claimed.token }, { code: 'process-died' }, 1);
  if (claimed.outcome === 'claimed')
    await runTurn(context, claimed.turn, sentAt, await traceOf(context, claimed.turn));
}

/** Finds the trace that a turn continues: that of a request that has ended, or that of the first message. */
async function traceOf({ store }: TurnContext, { settled, inbox }: ClaimedTurn): Promise<string | undefined> {
  const [ended] = settled;
  const loaded = ended && (await store.load(ended.requestId));
  if (loaded?.outcome === 'found' && loaded.request.trace !== undefined) return loaded.request.trace;
  const trace = inbox[0]?.body.trace;
  return typeof trace === 'string' ? trace : undefined;
}

/**
 * Runs a claimed turn to its end and records it. The lease is renewed meanwhile; a lost lease or a Stop aborts the turn. `sentAt` is the
 * time before the claim was sent, by this process's monotonic clock; `trace` is the one that the turn continues.
 */
export function runTurn(
  context: TurnContext,
  turn: ClaimedTurn,
  sentAt: number,
  trace?: string,
): Promise<void> {
  const { threadId } = turn;
  return context.observeTurn({ threadId, sentAt, trace }, async () => {
    const { store, places, turns, timing, logger } = context;
    const controller = turns.begin(turn);
    const lease = new TurnLease(timing.leaseMs, sentAt, controller, turns.handOver);
    const left: Parameters<RunningTurn['tidyUp']>[0][] = [];
    if (turn.isStopped) lease.stop();
    const renewing = setInterval(() => void renewLease(context, turn, lease), timing.renewMs);
    try {
      const tidyUp: RunningTurn['tidyUp'] = (what) => void left.push(what);
      const end = await workOn(context, turn, { signal: controller.signal, lease, tidyUp });
      if (end === undefined || lease.isCut) return await giveBack(context, turn, lease);
      const suspended = await store.suspend(turn, end);
      if (suspended.outcome !== 'suspended') {
        logger.warn({ threadId, ...suspended }, 'turn discarded');
        return 'discarded';
      }
      for (const what of left)
        await what.recorded().catch((err: unknown) => logger.warn({ threadId, err }, 'turn not tidied up'));
      await places.markRead(turn);
      return suspended.waiting > 0 ? 'suspended' : 'ended';
    } catch (error) {
      if (!lease.isCut) await countFailure(context, turn, { code: 'failed', error });
      throw error;
    } finally {
      clearInterval(renewing);
      for (const what of left) what.leave();
      places.leave(threadId);
      turns.end(threadId, controller);
    }
  });
}

/** Does the work of a turn: a caller's call, or that of the model, unless a freeze holds it: then its thread is told and the turn is left as it is. */
async function workOn(
  context: TurnContext,
  turn: ClaimedTurn,
  running: RunningTurn,
): Promise<TurnEnd | undefined> {
  if (parseCallerThread(turn.threadId) !== undefined) return runCallerTurn(context, turn, running);
  return (await isModelHeld(context, turn.threadId)) ? undefined : runModel(context, turn, running);
}

/** Gives a turn back that was cut; another process continues it. */
async function giveBack(
  { store, logger }: TurnContext,
  turn: ClaimedTurn,
  lease: TurnLease,
): Promise<TurnOutcome> {
  const released = lease.isLost ? { outcome: 'lost' } : await store.release(turn);
  logger.info({ threadId: turn.threadId, ...released }, 'turn handed over');
  return lease.isLost ? 'lost' : 'handed-over';
}

/** Failures in a row after which a thread is quarantined. */
const MOST_FAILURES = 5;

async function countFailure(
  { store, messages, timing, logger, describeFailure }: TurnContext,
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  failure: TurnFailure,
  mostFailures = MOST_FAILURES,
): Promise<void> {
  const { threadId, token } = turn;
  const reason = describeFailure(failure);
  try {
    const notices = await messages.rows(threadId, { code: 'given-up', token, reason });
    const counted = { mostFailures, delayMs: timing.renewMs, reason, notices };
    const failed = await store.release(turn, counted);
    if (failed.outcome === 'quarantined') logger.error({ threadId, reason }, 'thread quarantined');
  } catch (err) {
    logger.warn({ threadId, err }, 'failure not counted');
  }
}

async function renewLease(
  { store, timing, logger }: TurnContext,
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
