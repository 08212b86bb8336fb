import type { App, BlockButtonAction } from '@slack/bolt';
import type { RequesterServer } from '../../tools/mcp/auth/connections.ts';
import { CONNECT, OPEN_PAGE } from '../cards/action-ids.ts';
import { answerConsents, consentIn } from '../connections/answer-consents.ts';
import { buildConnectModal, CODE, CONNECT_MODAL, readConnectModal } from '../connections/connect-modal.ts';
import type { BotContext } from '../context.ts';
import { type Click, checkClick, type Notice } from '../decisions/click.ts';
import { HOME_CONNECT, HOME_DISCONNECT } from '../home/build-accounts.ts';
import { refreshHome } from '../home/show-home.ts';
import { tellPrivately } from '../reply/private-notice.ts';
import { stateWord } from '../texts/cards.ts';
import { connectionTexts } from '../texts/connections.ts';
import { noticeTexts } from '../texts/notices.ts';
import { replyPlace } from './reply-place.ts';

/** Lets people connect and disconnect their own accounts, on a card and in Home. */
export function listenToConnections(app: App, context: BotContext): void {
  const { accounts, toolbox } = context;
  const find = (name: string) => toolbox.requesterServers().find((server) => server.name === name);

  app.action(OPEN_PAGE, ({ ack }) => ack());

  app.action<BlockButtonAction>(CONNECT, async ({ ack, action, body, client }) => {
    await ack();
    const channel = body.container.type === 'message' ? body.container.channel_id : undefined;
    const click = { who: body.user.id, id: action.action_ts, team: body.user.team_id, channel };
    const asked = await connectFor(context, action.value ?? '', click, find);
    if (asked.server === undefined) {
      if (asked.notice !== undefined) await tellPrivately(context, replyPlace(body), asked.notice);
      return;
    }
    const offered = await accounts.flow.offer(click.who, asked.server.name, action.value ?? '');
    await client.views.open({ trigger_id: body.trigger_id, view: buildConnectModal(asked.server, offered) });
  });

  app.action<BlockButtonAction>(HOME_CONNECT, async ({ ack, action, body, client }) => {
    await ack();
    const server = find(action.value ?? '');
    const problem = problemWith(context, server);
    if (problem !== undefined || server === undefined)
      return tellPrivately(context, replyPlace(body), problem ?? connectionTexts.noServer);
    const offered = await accounts.flow.offer(body.user.id, server.name, undefined);
    await client.views.open({ trigger_id: body.trigger_id, view: buildConnectModal(server, offered) });
  });

  app.action<BlockButtonAction>(HOME_DISCONNECT, async ({ ack, action, body }) => {
    await ack();
    const server = find(action.value ?? '');
    if (server !== undefined) await accounts.connections.disconnect(server, body.user.id, body.user.id);
    await refreshHome(context, body.user.id);
  });

  app.view({ callback_id: CONNECT_MODAL, type: 'view_submission' }, async ({ ack, view, body }) => {
    const { attempt, code } = readConnectModal(view.private_metadata, view.state.values);
    const who = body.user.id;
    const confirmed = await accounts.flow.confirm(attempt, who, code);
    if (confirmed.outcome !== 'connected') {
      const text = {
        'wrong-code': connectionTexts.wrongCode,
        'not-yet': connectionTexts.notYet,
        over: connectionTexts.over,
      }[confirmed.outcome];
      return ack({ response_action: 'errors', errors: { [CODE]: text } });
    }
    await ack({ response_action: 'clear' });
    const { requestId, server } = confirmed;
    const click = { who, id: view.id, team: body.user.team_id };
    const notice = requestId === undefined ? undefined : await answerConsents(context, requestId, click);
    await tellPrivately(context, { user: who }, notice ?? connectionTexts.connected(server));
    await refreshHome(context, who);
  });
}

type Asked = { readonly server: RequesterServer } | { readonly server?: undefined; readonly notice: Notice };

/** Checks a click on a card: returns the server to connect, or what the person is told. An account that is there already is the answer. */
async function connectFor(
  context: BotContext,
  requestId: string,
  click: Click,
  find: (name: string) => RequesterServer | undefined,
): Promise<Asked> {
  const checked = await checkClick(context, requestId, click);
  if (!checked.ok) return { notice: checked.notice };
  const { request } = checked;
  const consent = consentIn(request);
  if (consent === undefined) return { notice: noticeTexts.notFound };
  if (consent.person !== click.who) return { notice: connectionTexts.onlyThem(consent.person) };
  if (request.state !== 'pending') return { notice: noticeTexts.nothingAwaited(stateWord(request.state)) };
  const server = find(consent.server);
  const problem = problemWith(context, server);
  if (server === undefined || problem !== undefined) return { notice: problem };
  if (await context.accounts.connections.isConnected(server, click.who))
    return { notice: await answerConsents(context, requestId, click) };
  return { server };
}

function problemWith({ accounts }: BotContext, server: RequesterServer | undefined): string | undefined {
  if (server === undefined) return connectionTexts.noServer;
  return accounts.flow.isPossible ? undefined : connectionTexts.notPossible;
}
