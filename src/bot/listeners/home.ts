import type { App, BlockButtonAction } from '@slack/bolt';
import { END_DELEGATION, REVOKE, UNFREEZE } from '../cards/action-ids.ts';
import { escapeMarkup } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { NOT_FOUND } from '../decisions/refusal-text.ts';
import { endByClick } from '../delegations/end-delegation.ts';
import { unfreezeByClick } from '../freezes/freeze-command.ts';
import { revokeGrant } from '../grants/revoke-grant.ts';
import { HOME_OPEN, HOME_PAGE } from '../home/build-home.ts';
import { LISTS } from '../home/load-lists.ts';
import { refreshHome, showHome } from '../home/show-home.ts';
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

  app.action<BlockButtonAction>(UNFREEZE, async ({ ack, action, body }) => {
    await ack();
    const click = { who: body.user.id, id: action.action_ts };
    const answer = await unfreezeByClick(context, action.value ?? '', click);
    await tellPrivately(context, replyPlace(body), escapeMarkup(answer));
    if (body.view !== undefined) await refreshHome(context, body.user.id);
  });

  app.action<BlockButtonAction>(END_DELEGATION, async ({ ack, action, body }) => {
    await ack();
    const click = { who: body.user.id, id: action.action_ts };
    await tellPrivately(context, replyPlace(body), await endByClick(context, action.value ?? '', click));
    if (body.view !== undefined) await refreshHome(context, body.user.id);
  });

  app.action<BlockButtonAction>(REVOKE, async ({ ack, action, body }) => {
    await ack();
    const click = { who: body.user.id, id: action.action_ts };
    await tellPrivately(context, replyPlace(body), await revokeGrant(context, action.value ?? '', click));
    if (body.view !== undefined) await refreshHome(context, body.user.id);
  });
}
