import { randomUUID } from 'node:crypto';
import type { OutboxItem } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { askerProblem } from '../intake/may-ask.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { threadIdOf } from '../slack/thread.ts';
import { replyTexts } from '../texts/replies.ts';
import { type GivenTask, parseTaskRow, postTask, taskRow } from './post-task.ts';

/** A task that is on record and not posted yet, or the reason why it is not taken. */
export type OpenedTask =
  | { readonly outcome: 'refused'; readonly problem: string }
  | {
      readonly outcome: 'recorded';
      /** Posts the task and receives it; resolves to a sentence if Slack refuses it. */
      readonly post: () => Promise<string | undefined>;
    };

/** The time before a task is tried again that Slack has not taken. */
const RETRY_MS = 1_000;

/**
 * Records a task before anybody sees it. This process posts it at once; if it dies, another one posts it, or takes up the message that it
 * finds, so that what stands in the channel is also done.
 */
export async function openTask(context: BotContext, task: GivenTask): Promise<OpenedTask> {
  const { store, directory, timing } = context;
  const { channel, user, about } = task;
  const problem = await askerProblem(directory, context.agent().askers, { user, channel }).catch(
    () => replyTexts.askerNotChecked,
  );
  if (problem !== undefined) return { outcome: 'refused', problem };
  const id = randomUUID();
  const threadId = threadIdOf({ channel, threadTs: about?.threadTs ?? id });
  const item = await store.holdOutbox(threadId, taskRow(id, task), timing.claimMs);
  return { outcome: 'recorded', post: () => postNow(context, item, task) };
}

/** Posts a task; what Slack does not take now is left to the outbox. */
async function postNow(
  context: BotContext,
  item: OutboxItem & { kind: 'row' },
  task: GivenTask,
): Promise<string | undefined> {
  try {
    return await postTask(context, item, task);
  } catch (error) {
    const failure = judgeSlackFailure(error);
    context.logger.warn({ item: item.item, reason: failure.reason }, 'task not posted, will retry');
    await context.store.retryOutbox(item, (failure.kind === 'later' && failure.afterMs) || RETRY_MS);
    return undefined;
  }
}

/** Posts a task that an earlier attempt left in the outbox, and tells its requester if Slack refuses it; `false` for another row. */
export async function sendTask(context: BotContext, item: OutboxItem & { kind: 'row' }): Promise<boolean> {
  const task = parseTaskRow(item);
  if (task === undefined) return false;
  const { channel, user } = task;
  const problem = await postTask(context, item, task);
  if (problem !== undefined)
    await context.store.enqueueOutbox(threadIdOf({ channel, threadTs: item.rowId.replace('task/', '') }), {
      id: `${item.rowId}/refused`,
      body: { kind: 'notice', user, text: problem },
    });
  return true;
}
