import type { App, BlockButtonAction } from '@slack/bolt';
import { REVOKE, UNFREEZE } from '../cards/action-ids.ts';
import { line, words } from '../cards/card.ts';
import { escapeMarkup } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { NOT_FOUND } from '../decisions/refusal-text.ts';
import { answerFreezeCommand, unfreezeByClick } from '../freezes/freeze-command.ts';
import { buildGrants } from '../grants/grant-blocks.ts';
import { grantsFor, revokeGrant } from '../grants/revoke-grant.ts';
import { buildList, HOME_OPEN, HOME_PAGE } from '../home/build-home.ts';
import { LISTS, loadList, PAGE_SIZE } from '../home/load-lists.ts';
import { refreshHome, showHome } from '../home/show-home.ts';
import { buildDetailsModal } from '../modals/details-modal.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import { limits } from '../slack/limits.ts';
import { commandTexts } from '../texts/commands.ts';
import { grantTexts } from '../texts/grants.ts';
import { replyPlace } from './reply-place.ts';

/** The page size of three lists in one message, which has half the blocks of a Home tab. */
const SHORT_PAGE_SIZE = 5;

/** Shows the three lists in App Home and for the slash command. */
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

  app.action<BlockButtonAction>(REVOKE, async ({ ack, action, body }) => {
    await ack();
    const click = { who: body.user.id, id: action.action_ts };
    await tellPrivately(context, replyPlace(body), await revokeGrant(context, action.value ?? '', click));
    if (body.view !== undefined) await refreshHome(context, body.user.id);
  });

  app.command('/countersign', async ({ ack, command, respond }) => {
    await ack();
    const click = { who: command.user_id, id: command.trigger_id };
    const answer = await answerFreezeCommand(context, command.text, click);
    if (answer !== undefined) {
      await respond({ text: escapeMarkup(answer), mrkdwn: false });
      return;
    }
    if (command.text.trim().toLowerCase() === 'grants') {
      const blocks = buildGrants(await grantsFor(context, command.user_id), limits.messageBlocks);
      await respond(blocks.length === 0 ? grantTexts.none : { text: grantTexts.listTitle, blocks });
      return;
    }
    const word = command.text.trim().toLowerCase();
    const wanted = LISTS.filter((name) => word === '' || name === word);
    if (wanted.length === 0) {
      await respond(commandTexts.usage);
      return;
    }
    const limit = wanted.length === 1 ? PAGE_SIZE : SHORT_PAGE_SIZE;
    const lists = await Promise.all(
      wanted.map((name) => loadList(context, command.user_id, name, { limit })),
    );
    const more = lists.some(({ next }) => next !== undefined);
    await respond({
      text: commandTexts.yourRequests,
      blocks: [
        ...lists.flatMap((list) => buildList({ ...list, next: undefined })),
        ...(more ? [line(words(commandTexts.more))] : []),
      ],
    });
  });
}
