import type { WorkHandlers } from '../store/engine-port.ts';
import { applyTimer } from './apply-timer.ts';
import type { BotParts } from './bot-parts.ts';
import { deliver } from './delivery/deliver.ts';
import { runAction } from './run-action.ts';
import { takeTurn } from './take-turn.ts';

/** What a worker does when it is woken. */
export function workHandlers(parts: BotParts): WorkHandlers {
  return {
    thread: (threadId) => takeTurn(parts, threadId),
    run: (requestId) => runAction(parts, requestId),
    outbox: (shard) => deliver(parts, shard),
    timer: (kind, id) => applyTimer(parts, kind, id),
  };
}
