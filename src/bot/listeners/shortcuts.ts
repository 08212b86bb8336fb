import type { App, MessageShortcut } from '@slack/bolt';
import type { BotContext } from '../context.ts';
import { readThreadMessage } from '../intake/slack-message.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import {
  ASK_MODAL,
  ASK_SHORTCUT,
  buildAskModal,
  parseAskedAbout,
  parseTask,
  TASK,
} from '../tasks/ask-modal.ts';
import { openTask } from '../tasks/open-task.ts';
import type { GivenTask } from '../tasks/post-task.ts';
import { noticeTexts } from '../texts/notices.ts';

/** Lets people give a task about a message, with the shortcut in its menu. */
export function listenToShortcuts(app: App, context: BotContext): void {
  app.shortcut<MessageShortcut>(
    { callback_id: ASK_SHORTCUT, type: 'message_action' },
    async ({ ack, shortcut, client }) => {
      await ack();
      const { channel, user, trigger_id, message } = shortcut;
      const read = readThreadMessage(message);
      if (read === undefined || read.text === '') {
        await tellPrivately(context, { user: user.id, channel: channel.id }, noticeTexts.nothingToAskAbout);
        return;
      }
      const { thread_ts: threadTs } = message;
      const place = { channel: channel.id, threadTs: typeof threadTs === 'string' ? threadTs : read.ts };
      await client.views.open({ trigger_id, view: buildAskModal(read, place) });
    },
  );

  app.view(
    { callback_id: ASK_MODAL, type: 'view_submission' },
    async ({ ack, view, body, context: { botUserId } }) => {
      const task = parseTask(view.state.values);
      if (!task.ok) return ack({ response_action: 'errors', errors: { ...task.errors } });
      const about = parseAskedAbout(view.private_metadata);
      const problem =
        about === undefined
          ? noticeTexts.nothingToAskAbout
          : await giveTask(context, {
              ...{ channel: about.channel, user: body.user.id, text: task.value, about },
              botUserId,
            });
      // The person keeps what they have typed.
      if (problem !== undefined) return ack({ response_action: 'errors', errors: { [TASK]: problem } });
      await ack({ response_action: 'clear' });
    },
  );
}

/** Records a task and posts it; returns a sentence if it is not taken. */
async function giveTask(context: BotContext, task: GivenTask): Promise<string | undefined> {
  const opened = await openTask(context, task);
  return opened.outcome === 'refused' ? opened.problem : opened.post();
}
