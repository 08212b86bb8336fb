import type { App, BlockAction } from '@slack/bolt';
import * as ids from '../cards/action-ids.ts';
import type { BotContext } from '../context.ts';
import { parseFeedback } from '../reply/feedback-block.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import { parseThreadId } from '../slack/thread.ts';
import { replyTexts } from '../texts/replies.ts';
import { replyPlace } from './reply-place.ts';

/** Records what people of this workspace think of answers, one word a person and answer, before the click is acknowledged. */
export function listenToFeedback(app: App, context: BotContext): void {
  app.action<BlockAction>(ids.FEEDBACK, async ({ ack, action, body }) => {
    const notice = await rate(context, 'value' in action ? action.value : undefined, body);
    await ack();
    await tellPrivately(context, replyPlace(body), notice);
  });
}

async function rate(
  { store, directory }: BotContext,
  value: unknown,
  { user, container }: BlockAction,
): Promise<string> {
  const rated = parseFeedback(value);
  const channel = container.type === 'message' ? container.channel_id : undefined;
  // A value that names another place was not shown there.
  if (rated === undefined || parseThreadId(rated.threadId).channel !== channel)
    return replyTexts.feedbackWrongPlace;
  if (user.team_id !== undefined && user.team_id !== (await directory.ownTeam()))
    return replyTexts.feedbackOtherWorkspace;
  const { outcome } = await store.giveFeedback({ ...rated, person: user.id });
  return outcome === 'recorded' ? replyTexts.feedbackThanks[rated.verdict] : replyTexts.feedbackTooLate;
}
