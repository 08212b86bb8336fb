import type { App, BlockButtonAction } from '@slack/bolt';
import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import { readDetails } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import { consentOf } from '../../tools/mcp/auth/ask-for-consent.ts';
import type { RequesterServer } from '../../tools/mcp/auth/connections.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import { limits } from '../slack/limits.ts';
import { CONNECT, OPEN_PAGE } from '../views/cards/action-ids.ts';
import { plain } from '../views/cards/card.ts';
import { stateWordOf } from '../views/cards/card-details.ts';
import { HOME_CONNECT, HOME_DISCONNECT } from '../views/home/sections.ts';
import { type Modal, textIn } from '../views/modals/modal.ts';
import { connectionTexts } from '../views/texts/connections.ts';
import { modalTexts } from '../views/texts/modals.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { showLabel } from '../views/texts/show-text.ts';
import { type Click, checkClick, type Notice } from './decisions/click.ts';
import { answer } from './decisions/decide.ts';
import { replyPlace } from './reply-place.ts';
import { refreshHome } from './show-home.ts';

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
  if (request.state !== 'pending') return { notice: noticeTexts.nothingAwaited(stateWordOf(request)) };
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

/** Answers a request for an account that is connected now, and every other of its thread for the same account. */
async function answerConsents(context: BotContext, requestId: string, click: Click): Promise<Notice> {
  const loaded = await context.store.load(requestId);
  if (loaded.outcome !== 'found') return undefined;
  const { request } = loaded;
  const notice = await answerOne(context, request, click);
  for (const other of await context.store.waitingIn(request.threadId)) {
    const found = other === requestId ? undefined : await context.store.load(other);
    if (found?.outcome === 'found' && isSame(found.request, request))
      await answerOne(context, found.request, click);
  }
  return notice;
}

function answerOne(context: BotContext, request: RequestRecord, click: Click): Promise<Notice> {
  return answer(context, request, click, { connected: consentIn(request)?.server ?? '' });
}

/** Returns the account that a request waits for. */
function consentIn(request: RequestRecord): ReturnType<typeof consentOf> {
  const details = readDetails(request);
  return details && consentOf(details.interrupt);
}

function isSame(left: RequestRecord, right: RequestRecord): boolean {
  const [one, other] = [consentIn(left), consentIn(right)];
  return one !== undefined && one.server === other?.server && one.person === other.person;
}

const CONNECT_MODAL = 'connect';
const CODE = 'code';
const MAX_CODE_LENGTH = 20;

const Metadata = z.object({ attempt: z.string() });

/** Builds the modal that connects an account: the link, which only this person sees, and the code that proves it was them. */
function buildConnectModal(
  { name, url }: Pick<RequesterServer, 'name' | 'url'>,
  { attempt, link }: { readonly attempt: string; readonly link: string },
): Modal {
  const server = showLabel(name, limits.label);
  return {
    type: 'modal',
    callback_id: CONNECT_MODAL,
    private_metadata: JSON.stringify({ attempt }),
    title: plain(connectionTexts.modalTitle),
    submit: plain(connectionTexts.confirm),
    close: plain(modalTexts.cancel),
    blocks: [
      { type: 'section', text: plain(connectionTexts.modalIntro(server, new URL(url).host)) },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: OPEN_PAGE,
            text: plain(connectionTexts.openPage),
            url: link,
            style: 'primary',
          },
        ],
      },
      {
        type: 'input',
        block_id: CODE,
        label: plain(connectionTexts.codeLabel),
        element: { type: 'plain_text_input', action_id: CODE, max_length: MAX_CODE_LENGTH },
      },
    ],
  };
}

/** Reads the attempt and the code of a submitted modal. */
function readConnectModal(
  metadata: string,
  values: unknown,
): { readonly attempt: string; readonly code: string } {
  const attempt = Metadata.safeParse(tryParseJson(metadata)).data?.attempt ?? '';
  return { attempt, code: textIn(values, CODE) ?? '' };
}
