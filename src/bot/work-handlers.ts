import type { WorkHandlers } from '../store/port/engine.ts';
import { startApprovedAction } from './actions/start-action.ts';
import type { BotContext } from './context.ts';
import { deliver } from './delivery/deliver.ts';
import { applyTimer } from './timers/apply-timer.ts';
import { claimAndRunTurn } from './turns/run-turn.ts';

/** Builds the handlers of a woken worker. */
export function workHandlers(context: BotContext): WorkHandlers {
  return {
    thread: (threadId) => claimAndRunTurn(context, threadId),
    run: (requestId) => startApprovedAction(context, requestId),
    outbox: (shard) => deliver(context, shard),
    timer: (kind, id) => applyTimer(context, kind, id),
  };
}
