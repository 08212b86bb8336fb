import { execute } from '../engine/execute.ts';
import { claimAndRunTurn } from '../engine/turns/run-turn.ts';
import type { WorkHandlers } from '../store/port/queue.ts';
import type { TimerKind } from '../store/port/work.ts';
import type { BotContext } from './context.ts';
import { DECISION, decideHeld } from './inbox/decisions/decide-in-time.ts';
import { carryOutHeld, HELD_CLICK } from './inbox/held-clicks.ts';
import { sendTask, TASK } from './inbox/open-task.ts';
import { publishHome } from './inbox/show-home.ts';
import { deliver, type Lanes } from './outbox/deliver.ts';
import { REMINDER, sendReminder } from './outbox/reminders.ts';
import type { Sender } from './outbox/send-row.ts';
import { escalate, recover, remind } from './outbox/timer-notices.ts';
import { runEnded } from './policy-change.ts';
import { executorContext, turnContext } from './turn-context.ts';

/** Builds the handlers of a woken worker; `further` sends the outbox rows of other doors. */
export function workHandlers(
  context: BotContext,
  further: ReadonlyMap<string, Sender> = new Map(),
): WorkHandlers {
  const lanes: Lanes = new Map();
  const senders = new Map([
    ...further,
    [DECISION, decideHeld],
    [HELD_CLICK, carryOutHeld],
    [TASK, sendTask],
    [REMINDER, sendReminder],
  ]);
  return {
    thread: (threadId) => claimAndRunTurn(turnContext(context), threadId),
    run: (requestId) => execute(executorContext(context), requestId),
    outbox: () => deliver({ ...context, senders, publishHome: (item) => publishHome(context, item) }, lanes),
    timer: (kind, id) => applyTimer(context, kind, id),
  };
}

/** Applies a timer; the record itself decides whether it is due. */
async function applyTimer(context: BotContext, kind: TimerKind, id: string): Promise<void> {
  const { store } = context;
  switch (kind) {
    case 'expire':
      await store.end(id, { state: 'expired' });
      return;
    case 'purge':
      await store.purge(id);
      return;
    case 'retire':
      await store.retire(id);
      return;
    case 'undo':
      await store.noteUndo(id, 'over');
      return;
    case 'freeze':
      await store.showFreeze(id);
      return;
    case 'ended':
      await runEnded(context, id);
      return;
    case 'recover':
      await recover(context, id);
      return;
    case 'remind':
      await remind(context, id);
      return;
    case 'escalate':
      await escalate(context, id);
  }
}
