import { describeError } from '../agent/errors.ts';
import { hasWebhook, webhookRow } from '../engine/caller-threads.ts';
import type { ExecutorContext } from '../engine/ports.ts';
import { threadFiles } from '../engine/turns/files/thread-files.ts';
import { runTurn } from '../engine/turns/run-turn.ts';
import { toolContext } from '../engine/turns/tool-context.ts';
import type { TurnContext } from '../engine/turns/turn-context.ts';
import { inSpan } from '../observe/tracing.ts';
import { openRequests } from './asks/plan/open-requests.ts';
import type { BotContext } from './context.ts';
import { engineContext } from './engine-context.ts';
import { turnMessages } from './outbox/turn-messages.ts';
import type { Directory } from './slack/directory.ts';
import { slackPlaces } from './slack/places.ts';
import { adminTexts } from './views/texts/notices.ts';

/** Makes Slack a door into turns: its people, its places and its messages. */
export function turnContext(context: BotContext): TurnContext {
  const { agent, modelFor, turns, timing, directory, callbacks } = context;
  return {
    ...engineContext(context),
    agent,
    modelFor,
    turns,
    timing,
    directory,
    places: slackPlaces(context),
    messages: turnMessages(context),
    asks: { open: (threadId, messages, options) => openRequests(context, threadId, messages, options) },
    callbackUrl: (call) => callbacks.make(call),
    describeFailure: (failure) =>
      failure.code === 'failed'
        ? adminTexts.turnFailed(describeError(failure.error))
        : adminTexts.processDied,
    observeTurn: (turn, work) => observeTurn(context, turn, work),
  };
}

/** Observes a turn by a span and by metrics. */
function observeTurn(
  { metrics }: Pick<BotContext, 'metrics'>,
  { threadId, sentAt, trace: parent }: Parameters<TurnContext['observeTurn']>[0],
  work: Parameters<TurnContext['observeTurn']>[1],
): Promise<void> {
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'countersign',
    'gen_ai.provider.name': 'openai',
    'gen_ai.conversation.id': threadId,
  };
  return inSpan('invoke_agent countersign', { parent, attributes }, async (span) => {
    let outcome: Awaited<ReturnType<typeof work>> = 'failed';
    try {
      outcome = await work();
    } finally {
      metrics.count('countersign_turns_total', { outcome });
      metrics.time('countersign_turn_seconds', {}, (performance.now() - sentAt) / 1_000);
      if (outcome === 'lost') metrics.count('countersign_leases_lost_total', { kind: 'turn' });
    }
    span.setAttribute('countersign.turn.outcome', outcome);
  });
}

/** Lets approved requests run in their threads. These are the last checks before an effect, so nothing cached about people counts. */
export function executorContext(
  context: BotContext,
  directory: Directory = context.directory.fresh(),
): ExecutorContext {
  const { timing, updates } = context;
  const own = turnContext(context);
  return {
    ...engineContext({ ...context, directory }),
    timing,
    updates,
    toolSettings: (run, key) => ({
      context: toolContext(own, run.threadId, run),
      files: threadFiles(own, run.threadId, key),
    }),
    beginAction: (requestId) => context.turns.beginAction(requestId),
    inTrace({ id, threadId, trace: parent }, work) {
      const attributes = { 'countersign.request.id': id, 'gen_ai.conversation.id': threadId };
      return inSpan('run approved action', { parent, attributes }, work);
    },
    tellCaller: async ({ id, threadId, decidedAt = 0 }) => {
      if (hasWebhook(context.toolbox, threadId))
        await context.store.enqueueOutbox(threadId, webhookRow(threadId, `${id}/${decidedAt}`));
    },
    continueThread: (turn, sentAt, trace) => runTurn(own, turn, sentAt, trace),
  };
}
