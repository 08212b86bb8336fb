import type { App, BlockAction, BlockElementAction, RespondFn, SlackActionMiddlewareArgs } from '@slack/bolt';
import type { ViewsOpenArguments, WebClient } from '@slack/web-api';
import type { Decision } from '../../engine/decision.ts';
import { reviewCause, reviewOf } from '../../engine/facets/review.ts';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { BotContext } from '../context.ts';
import { followDetails } from '../outbox/draw-details.ts';
import { type PrivatePlace, tellPrivately } from '../outbox/private-notice.ts';
import type { AskButton } from '../views/asks/ask-kind.ts';
import { ASK_KINDS } from '../views/asks/ask-kinds.ts';
import * as ids from '../views/cards/action-ids.ts';
import { buildDetailsModal } from '../views/modals/details-modal.ts';
import { type Modal, parseMetadata } from '../views/modals/modal.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { authorizeAnswer, authorizeVote } from './decisions/authorize.ts';
import { type Click, viewerProblem } from './decisions/click.ts';
import { decideInTime } from './decisions/decide-in-time.ts';
import { ineligibleText, NOT_FOUND } from './decisions/refusal-text.ts';
import { replyPlace } from './reply-place.ts';
import { refreshHome } from './show-home.ts';

/** A click on a button or a menu, with what it takes to respond to it. */
interface CardClick {
  readonly requestId: string;
  readonly click: Click;
  readonly triggerId: string;
  readonly replyTo: PrivatePlace;
  /** Responds through the click's `response_url`, if it has one. */
  readonly respond: RespondFn | undefined;
  readonly client: WebClient;
  readonly body: BlockAction;
}

type ReadDecision = (action: BlockElementAction, body: BlockAction) => Decision;
type ActionArgs = SlackActionMiddlewareArgs<BlockAction> & { readonly client: WebClient };
type BuildModal = (
  request: RequestRecord,
  click: Click,
  context: BotContext,
) => Modal | string | Promise<Modal | string>;

const MENU_ACTIONS: readonly string[] = [
  ids.APPROVE_GRANT,
  ids.APPROVE_COMMENTED,
  ids.EDIT,
  ids.DETAILS,
  ids.WITHDRAW,
];

/** The clicks of every kind of ask, and those that mean the same on each card. */
const DECISIONS: readonly (readonly [string | RegExp, ReadDecision])[] = [
  ...ASK_KINDS.flatMap(({ buttons }) => buttons).flatMap((button) =>
    'decide' in button ? [[button.id, button.decide] as const] : [],
  ),
  [ids.WITHDRAW, () => ({ type: 'withdraw' })],
  [ids.UNDO, () => ({ type: 'undo' })],
  [ids.UNDO_STEP, () => ({ type: 'undo' })],
  [ids.ASK_AGAIN, () => ({ type: 'ask-again' })],
];

/** The modals that a click opens, by its action. */
const MODALS: readonly (readonly [string, BuildModal])[] = [
  ...ASK_KINDS.flatMap(({ buttons }) => buttons).flatMap((button) =>
    'open' in button ? [[button.id, openOf(button.open)] as const] : [],
  ),
  [
    ids.DETAILS,
    (request, _click, context) => buildDetailsModal(request, { page: 0, link: context.pageLink(request.id) }),
  ],
];

/** Opens the modal of a kind of ask with what it needs of the workspace. */
function openOf(open: Extract<AskButton, { readonly open: unknown }>['open']): BuildModal {
  return (request, click, context) => {
    const answererProblem = () => answererProblemOf(context, click, request);
    return open(request, { toolbox: context.toolbox, answererProblem });
  };
}

/** Decides by a click, which is on record before it is acknowledged. */
function decideBy(context: BotContext, read: ReadDecision): (args: ActionArgs) => Promise<void> {
  return async function handle({ ack, action, body, client, respond }): Promise<void> {
    const clicked = readClick(body, action, client, respond);
    const { requestId, click, replyTo, respond: reply } = clicked;
    const made = { requestId, click, decision: read(action, body) };
    const { container } = body;
    if (reply !== undefined && container.type === 'message')
      context.updates.clicked({ channel: container.channel_id, ts: container.message_ts }, reply);
    const notice = await decideInTime(context, made, replyTo, {
      withinMs: context.timing.ackWithinMs.click,
      ack: () => ack(),
    });
    if (notice !== undefined) await tellPrivately(context, replyTo, notice, reply);
    else if (body.view?.type === 'home') await refreshHome(context, body.user.id);
    else if (body.view?.type === 'modal')
      await Promise.all([showDetails(context, clicked), refreshHome(context, body.user.id)]);
  };
}

function openBy(context: BotContext, id: string, build: BuildModal): (args: ActionArgs) => Promise<void> {
  return async ({ ack, action, body, client, respond }) => {
    await ack();
    const clicked = readClick(body, action, client, respond);
    const loaded = await context.store.load(clicked.requestId);
    const view =
      loaded.outcome === 'found'
        ? ((await viewerProblem(context, loaded.request, clicked.click)) ??
          (await build(loaded.request, clicked.click, context)))
        : NOT_FOUND;
    if (typeof view === 'string') return tellPrivately(context, clicked.replyTo, view, clicked.respond);
    const opened = await open(clicked, view);
    if (id === ids.DETAILS && loaded.outcome === 'found')
      await Promise.all([
        followDetails(context, loaded.request, opened, { modal: view, page: 0 }),
        noteReview(context, loaded.request, clicked.click),
      ]);
  };
}

/** Turns clicks on cards into decisions and modals. */
export function listenToActions(app: App, context: BotContext): void {
  const handlers = new Map<string | RegExp, (args: ActionArgs) => Promise<void>>([
    ...DECISIONS.map(([id, read]) => [id, decideBy(context, read)] as const),
    ...MODALS.map(([id, build]) => [id, openBy(context, id, build)] as const),
  ]);
  for (const [id, handle] of handlers) app.action<BlockAction>(id, handle);
  // The menu names the action that its option stands for.
  app.action<BlockAction>(ids.MORE, async (args) => {
    const chosen = args.action.type === 'overflow' ? args.action.selected_option.value : '';
    const handle = MENU_ACTIONS.includes(chosen) ? handlers.get(chosen) : undefined;
    await (handle === undefined ? args.ack() : handle(args));
  });
  // Ticked choices count when they are submitted, and a link needs no answer.
  for (const id of [ids.CHOOSE_SEVERAL, ids.OPEN_LINK]) app.action(id, ({ ack }) => ack());
  for (const [id, step] of [
    [ids.PREVIOUS_PAGE, -1],
    [ids.NEXT_PAGE, 1],
  ] as const)
    app.action<BlockAction>(id, async ({ ack, action, body, client, respond }) => {
      await ack();
      await showDetails(context, readClick(body, action, client, respond), step);
    });
}

/** Lets the cards say that somebody who may decide is reading the request, unless somebody is already. */
async function noteReview(context: BotContext, request: RequestRecord, click: Click): Promise<void> {
  const { kind, state, requesters, barred, policy, votes } = request;
  const { who } = click;
  const isOwn = barred.includes(who) || (requesters.includes(who) && !policy.selfApproval);
  const hasVoted = votes.some((vote) => vote.who === who);
  if (kind !== 'approval' || state !== 'pending' || isOwn || hasVoted || reviewOf(request) !== undefined)
    return;
  try {
    const { actor } = await authorizeVote(context, click, request);
    if (actor.eligible) await context.store.redraw(request.id, { cause: reviewCause(who) });
  } catch (err) {
    // The cards only say less.
    context.logger.debug({ requestId: request.id, err }, 'review not noted');
  }
}

function readClick(
  body: BlockAction,
  action: BlockElementAction,
  client: WebClient,
  respond: RespondFn,
): CardClick {
  const own = 'value' in action && typeof action.value === 'string' ? action.value : undefined;
  const isStep = action.action_id === ids.EDIT_STEP || action.action_id === ids.UNDO_STEP;
  const step = isStep && action.type === 'static_select' ? action.selected_option.value : undefined;
  return {
    // A menu has no value of its own; its block is named after the request, or its option is the step of a plan.
    requestId: step ?? own ?? action.block_id,
    click: {
      who: body.user.id,
      id: action.action_ts,
      team: body.user.team_id,
      channel: body.container.type === 'message' ? body.container.channel_id : undefined,
    },
    triggerId: body.trigger_id,
    replyTo: replyPlace(body),
    respond: body.view === undefined && 'response_url' in body ? respond : undefined,
    client,
    body,
  };
}

/** Opens a modal, on top of the one that was clicked if there is one. */
async function open({ client, triggerId, body }: CardClick, view: Modal) {
  const argumentsFor: ViewsOpenArguments = { trigger_id: triggerId, view };
  const opened = await (body.view?.type === 'modal'
    ? client.views.push(argumentsFor)
    : client.views.open(argumentsFor));
  return opened.view;
}

async function showDetails(
  context: BotContext,
  { client, body, requestId }: CardClick,
  step = 0,
): Promise<void> {
  const { view } = body;
  const loaded = await context.store.load(requestId);
  if (view === undefined || loaded.outcome !== 'found') return;
  const page = (parseMetadata(view.private_metadata)?.page ?? 0) + step;
  const modal = buildDetailsModal(loaded.request, { page, link: context.pageLink(requestId) });
  const updated = await client.views.update({ view_id: view.id, view: modal });
  await followDetails(context, loaded.request, updated.view, { modal, page });
}

/** Says why a person may not answer a request; `undefined` if they may. */
async function answererProblemOf(
  context: BotContext,
  click: Click,
  request: RequestRecord,
): Promise<string | undefined> {
  const { problem } = await authorizeAnswer(context, click, request);
  return problem && ineligibleText(problem, noticeTexts.notAnswerer);
}
