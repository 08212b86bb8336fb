import { webhookRow } from '../../engine/caller-threads.ts';
import type { ExecutorContext } from '../../engine/ports.ts';
import { inSpan } from '../../observe/tracing.ts';
import type { BotContext } from '../context.ts';
import type { Directory } from '../slack/directory.ts';
import { hasWebhook } from './caller-turn.ts';
import { engineContext, toolContext } from './engine-context.ts';
import { threadFiles } from './files/thread-files.ts';
import { runTurn } from './run-turn.ts';

/** Lets approved requests run in their threads. These are the last checks before an effect, so nothing cached about people counts. */
export function executorContext(
  context: BotContext,
  directory: Directory = context.directory.fresh(),
): ExecutorContext {
  const { timing, updates } = context;
  return {
    ...engineContext({ ...context, directory }),
    ...{ timing, updates },
    toolSettings: (run, key) => ({
      context: toolContext(context, run.threadId, run),
      files: threadFiles(context, run.threadId, key),
    }),
    beginAction: (requestId) => context.turns.beginAction(requestId),
    inTrace({ id, threadId, trace: parent }, work) {
      const attributes = { 'countersign.request.id': id, 'gen_ai.conversation.id': threadId };
      return inSpan('run approved action', { parent, attributes }, work);
    },
    tellCaller: async ({ id, threadId, decidedAt = 0 }) => {
      if (hasWebhook(context, threadId))
        await context.store.enqueueOutbox(threadId, webhookRow(threadId, `${id}/${decidedAt}`));
    },
    continueThread: (turn, sentAt, trace) => runTurn(context, turn, sentAt, trace),
  };
}
