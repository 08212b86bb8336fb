import type { App, BlockButtonAction } from '@slack/bolt';
import type { BotContext } from '../context.ts';
import { NOT_FOUND } from '../decisions/refusal-text.ts';
import { HOME_OPEN, HOME_PAGE } from '../home/build-home.ts';
import { LISTS } from '../home/load-lists.ts';
import { showHome } from '../home/show-home.ts';
import { buildDetailsModal } from '../modals/details-modal.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import { replyPlace } from './reply-place.ts';

/** Shows the lists of App Home. */
export function listenToHome(app: App, context: BotContext): void {
  app.event('app_home_opened', async ({ event }) => {
    if (event.tab === 'home') await showHome(context, event.user);
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

  app.action<BlockButtonAction>(HOME_OPEN, async ({ ack, action, body, client }) => {
    await ack();
    const loaded = await context.store.load(action.value ?? '');
    if (loaded.outcome !== 'found') return tellPrivately(context, replyPlace(body), NOT_FOUND);
    const view = buildDetailsModal(loaded.request, { page: 0 });
    await client.views.open({ trigger_id: body.trigger_id, view });
  });
}
