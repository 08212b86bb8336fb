import type { App, BlockAction, BlockButtonAction } from '@slack/bolt';
import { LISTS } from '../../engine/asks/load-lists.ts';
import { feedbackIn } from '../../store/documents/feedback.ts';
import type { BotContext } from '../context.ts';
import { followDetails } from '../outbox/draw-details.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import { parseFeedback } from '../outbox/reply-rows.ts';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import { parseThreadId } from '../slack/thread.ts';
import * as ids from '../views/cards/action-ids.ts';
import { END_DELEGATION, REVOKE, UNFREEZE } from '../views/cards/action-ids.ts';
import { HOME_OPEN, HOME_PAGE, HOME_REFRESH } from '../views/home/build-home.ts';
import { buildDetailsModal } from '../views/modals/details-modal.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { listenToActions } from './actions.ts';
import { listenToCommands, listenToShortcuts } from './commands.ts';
import { listenToConnections } from './connections.ts';
import { NOT_FOUND } from './decisions/refusal-text.ts';
import { carryOutInTime } from './held-clicks.ts';
import { listenToMessages, listenToRevisions } from './messages.ts';
import { replyPlace } from './reply-place.ts';
import { refreshHome, showHome } from './show-home.ts';
import { listenToSubmissions } from './submissions.ts';

/** Registers all listeners. They only translate between Slack and the handlers. */
export function listen(app: App, context: BotContext): void {
  listenToMessages(app, context);
  listenToRevisions(app, context);
  listenToActions(app, context);
  listenToSubmissions(app, context);
  listenToHome(app, context);
  listenToCommands(app, context);
  listenToShortcuts(app, context);
  listenToConnections(app, context);
  listenToFeedback(app, context);
}

/** Shows the lists of App Home. */
function listenToHome(app: App, context: BotContext): void {
  app.event('app_home_opened', async ({ event }) => {
    if (event.tab !== 'home') return;
    await showHome(context, event.user).catch((error: unknown) => {
      const { kind, reason } = judgeSlackFailure(error);
      // The event would come again, and Slack would refuse the same.
      if (kind !== 'impossible') throw error;
      context.logger.warn({ user: event.user, reason }, 'Home not shown');
    });
  });

  app.action<BlockButtonAction>(new RegExp(`^${HOME_PAGE}:`), async ({ ack, action, body }) => {
    await ack();
    const list = LISTS.find((name) => action.action_id.startsWith(`${HOME_PAGE}:${name}:`));
    if (list === undefined) return;
    await showHome(context, body.user.id, {
      list,
      ...(action.value !== undefined && { from: action.value }),
    });
  });

  app.action<BlockButtonAction>(HOME_REFRESH, async ({ ack, body }) => {
    await ack();
    await showHome(context, body.user.id);
  });

  app.action<BlockButtonAction>(HOME_OPEN, async ({ ack, action, body, client }) => {
    await ack();
    const loaded = await context.store.load(action.value ?? '');
    if (loaded.outcome !== 'found') return tellPrivately(context, replyPlace(body), NOT_FOUND);
    const modal = buildDetailsModal(loaded.request, { page: 0, link: context.pageLink(loaded.request.id) });
    const opened = await client.views.open({ trigger_id: body.trigger_id, view: modal });
    await followDetails(context, loaded.request, opened.view, { modal, page: 0 });
  });

  for (const act of [UNFREEZE, END_DELEGATION, REVOKE] as const)
    app.action<BlockButtonAction>(act, async ({ ack, action, body }) => {
      const click = { who: body.user.id, id: action.action_ts };
      const replyTo = replyPlace(body);
      const held = { act, value: action.value ?? '', click, replyTo };
      const answer = await carryOutInTime(context, held, () => ack());
      await tellPrivately(context, replyTo, answer);
      if (body.view !== undefined) await refreshHome(context, body.user.id);
    });
}

/** Records what people of this workspace think of answers, one word a person and answer, before the click is acknowledged. */
function listenToFeedback(app: App, context: BotContext): void {
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
  await feedbackIn(store).give({ ...rated, person: user.id });
  return replyTexts.feedbackThanks[rated.verdict];
}
