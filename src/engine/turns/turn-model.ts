import type { Message } from '../../agent/messages.ts';
import type { Model, ModelReply } from '../../agent/model.ts';
import { Transcript } from '../../agent/transcript.ts';
import { followSignals } from '../../agent/util/abort.ts';
import type { ClaimedTurn } from '../../store/port/values.ts';
import { undoReply } from '../asks/undo-call.ts';
import { withSteps } from '../plans.ts';
import { channelOf, type Preview } from '../ports.ts';
import type { TaskPeople } from '../task-people.ts';
import type { TurnLease } from '../turn-lease.ts';
import { StoredImages } from './files/thread-files.ts';
import { isModelHeld } from './hold-model.ts';
import { budgetedModel } from './token-budget.ts';
import type { TurnContext } from './turn-context.ts';

/** The turn for which a model answers. */
interface Answering {
  readonly history: readonly Message[];
  readonly people: TaskPeople;
  readonly requester: string;
  readonly preview: Preview;
  readonly signal: AbortSignal;
  readonly lease: TurnLease;
}

/** The answer of a model that may not be called. */
const HELD: ModelReply = { finish: 'aborted', text: '', calls: [], usage: undefined };

/**
 * Wraps the model of a turn: it is called within its budgets, unless a freeze holds it, sees the images of its thread, and its plans get
 * their steps. A click on Undo is answered in its place.
 */
export function turnModel(
  context: TurnContext,
  turn: ClaimedTurn,
  { history, people, requester, preview, signal, lease }: Answering,
): Model {
  const { toolbox, logger } = context;
  const { threadId, token } = turn;
  const channel = channelOf(threadId);
  const { plans } = context.agent();
  const spentBefore = () => Transcript.of(history).usage.totalTokens;
  const budgeted = budgetedModel(context, turn, { requester, spentBefore });
  const images = new StoredImages(context.store, threadId);
  let undo = undoReply(history);
  return {
    name: budgeted.name,
    async reply(request) {
      if (undo !== undefined) {
        const reply = undo;
        undo = undefined;
        preview.running(reply);
        return reply;
      }
      if (await isModelHeld(context, threadId)) {
        lease.cut();
        return HELD;
      }
      preview.thinking();
      const shown = await images.show(request.history);
      const either = followSignals([signal, lease.handOver, lease.held]);
      const reply = await budgeted
        .reply({ ...request, history: shown, signal: either.signal })
        .finally(either.end);
      if (lease.held.aborted && reply.finish === 'aborted') await isModelHeld(context, threadId);
      const isCut = lease.handOver.aborted || lease.held.aborted;
      if (isCut && reply.finish === 'aborted') lease.cut();
      const { model = budgeted.name, finish, usage } = reply;
      logger.info({ threadId, token, model, finish, usage }, 'model answered');
      const planned = plans === undefined ? reply : withSteps(toolbox, { ...people, channel }, reply, plans);
      preview.running(planned);
      return planned;
    },
  };
}
