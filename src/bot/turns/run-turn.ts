import type { ClaimedTurn } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { runModel } from './run-model.ts';

/** Claims the next turn of a thread and runs it, if there is one and no other worker has it. */
export async function claimAndRunTurn(context: BotContext, threadId: string): Promise<void> {
  const { store, timing, logger } = context;
  const claimed = await store.claimTurn(threadId, timing.leaseMs);
  if (claimed.outcome === 'quarantined')
    logger.error({ threadId, reason: claimed.reason }, 'thread quarantined');
  if (claimed.outcome === 'claimed') await runTurn(context, claimed.turn);
}

/** Runs a claimed turn to its end and records it. The lease is renewed meanwhile; a lost lease or a Stop aborts the turn. */
export async function runTurn(context: BotContext, turn: ClaimedTurn): Promise<void> {
  const { store, turns, timing, logger } = context;
  const { threadId } = turn;
  const controller = turns.begin(threadId);
  const renewing = setInterval(() => void renewLease(context, turn, controller), timing.renewMs);
  try {
    const end = await runModel(context, turn, controller.signal);
    const suspended = await store.suspend(turn, end);
    if (suspended.outcome !== 'suspended') logger.warn({ threadId, ...suspended }, 'turn discarded');
  } finally {
    clearInterval(renewing);
    turns.end(threadId, controller);
  }
}

async function renewLease(
  { store, timing, logger }: BotContext,
  turn: ClaimedTurn,
  controller: AbortController,
): Promise<void> {
  try {
    const renewed = await store.renewLease(turn, timing.leaseMs);
    if (renewed.outcome !== 'renewed') controller.abort(new Error(`the turn is ${renewed.outcome}`));
  } catch (err) {
    logger.warn({ threadId: turn.threadId, err }, 'lease renewal failed');
  }
}
