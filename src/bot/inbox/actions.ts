import type { App, BlockAction, BlockElementAction, RespondFn, SlackActionMiddlewareArgs } from '@slack/bolt';
import type { ViewsOpenArguments, WebClient } from '@slack/web-api';
import { detailsOf } from '../../engine/request-details.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { elicitationOf } from '../../tools/mcp/server-pause.ts';
import { awaitedSchema } from '../asks/awaited-schema.ts';
import { reviewCause, reviewOf } from '../asks/review.ts';
import type { BotContext } from '../context.ts';
import { followDetails } from '../outbox/draw-details.ts';
import { type PrivatePlace, tellPrivately } from '../outbox/private-notice.ts';
import * as ids from '../views/cards/action-ids.ts';
import {
  buildAnswerModal,
  buildApproveModal,
  buildChooseModal,
  buildGrantModal,
  buildRejectModal,
  buildResolveModal,
  buildUrlModal,
} from '../views/modals/decision-modals.ts';
import { buildDetailsModal } from '../views/modals/details-modal.ts';
import { buildEditModal, buildOutputModal } from '../views/modals/form-modal.ts';
import { type Modal, parseMetadata } from '../views/modals/modal.ts';
import { noticeTexts } from '../views/texts/notices.ts';
import { authorizeAnswer, authorizeVote } from './decisions/authorize.ts';
import { type Click, viewerProblem } from './decisions/click.ts';
import { decideInTime } from './decisions/decide-in-time.ts';
import type { Decision } from './decisions/decision.ts';
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
type BuildModal = (request: RequestRecord, click: Click) => Modal | string | Promise<Modal | string>;

const MENU_ACTIONS: readonly string[] = [ids.APPROVE_GRANT, ids.EDIT, ids.DETAILS, ids.WITHDRAW];

/** Turns clicks on cards into decisions and modals. A decision, or its click, is on record before the click is acknowledged. */
export function listenToActions(app: App, context: BotContext): void {
  const { toolbox } = context;

  const handlers = new Map<string, (args: ActionArgs) => Promise<void>>();

  const onDecision = (id: string | RegExp, read: ReadDecision): void => {
    const handle = async ({ ack, action, body, client, respond }: ActionArgs): Promise<void> => {
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
    if (typeof id === 'string') handlers.set(id, handle);
    app.action<BlockAction>(id, handle);
  };
  const onOpen = (id: string, build: BuildModal): void => {
    const handle = async ({ ack, action, body, client, respond }: ActionArgs): Promise<void> => {
      await ack();
      const clicked = readClick(body, action, client, respond);
      const loaded = await context.store.load(clicked.requestId);
      const view =
        loaded.outcome === 'found'
          ? ((await viewerProblem(context, loaded.request, clicked.click)) ??
            (await build(loaded.request, clicked.click)))
          : NOT_FOUND;
      if (typeof view === 'string') return tellPrivately(context, clicked.replyTo, view, clicked.respond);
      const opened = await open(clicked, view);
      if (id === ids.DETAILS && loaded.outcome === 'found')
        await Promise.all([
          followDetails(context, loaded.request, opened, { modal: view, page: 0 }),
          noteReview(context, loaded.request, clicked.click),
        ]);
    };
    handlers.set(id, handle);
    app.action<BlockAction>(id, handle);
  };

  onDecision(ids.APPROVE, () => ({ type: 'approve' }));
  onDecision(new RegExp(`^${ids.APPROVE_CHOSEN}:`), ({ action_id }) => ({
    type: 'approve',
    shown: action_id.slice(ids.APPROVE_CHOSEN.length + 1),
  }));
  onDecision(ids.DECLINE, () => ({ type: 'decline' }));
  onDecision(ids.WITHDRAW, () => ({ type: 'withdraw' }));
  onDecision(ids.SHOW_ADDRESS, () => ({ type: 'show-address' }));
  onDecision(ids.UNDO, () => ({ type: 'undo' }));
  onDecision(ids.UNDO_STEP, () => ({ type: 'undo' }));
  onDecision(ids.ASK_AGAIN, () => ({ type: 'ask-again' }));
  onDecision(new RegExp(`^${ids.CHOOSE}:\\d+$`), (action) => ({
    type: 'choose',
    picked: [Number(action.action_id.slice(ids.CHOOSE.length + 1))],
  }));
  onDecision(ids.CHOOSE_FROM_MENU, (action) => ({
    type: 'choose',
    picked: action.type === 'static_select' ? [Number(action.selected_option.value)] : [],
  }));
  onDecision(ids.SUBMIT_CHOICES, (_action, body) => ({ type: 'choose', picked: pickedIn(body) }));
  // Ticked choices count when they are submitted.
  app.action(ids.CHOOSE_SEVERAL, ({ ack }) => ack());

  // The menu names the action that its option stands for.
  app.action<BlockAction>(ids.MORE, async (args) => {
    const chosen = args.action.type === 'overflow' ? args.action.selected_option.value : undefined;
    const handle = MENU_ACTIONS.includes(chosen ?? '') ? handlers.get(chosen ?? '') : undefined;
    await (handle === undefined ? args.ack() : handle(args));
  });

  onOpen(ids.APPROVE_TYPED, buildApproveModal);
  onOpen(ids.APPROVE_GRANT, buildGrantModal);
  onOpen(ids.CHOOSE_STEPS, buildChooseModal);
  onOpen(ids.REJECT, buildRejectModal);
  onOpen(ids.ANSWER, buildAnswerModal);
  onOpen(ids.DETAILS, (request) =>
    buildDetailsModal(request, { page: 0, link: context.pageLink(request.id) }),
  );
  for (const verdict of [ids.RAN, ids.DID_NOT_RUN, ids.RUN_AGAIN] as const) {
    onOpen(verdict, (request) => buildResolveModal(request, verdict));
  }
  const editModal: BuildModal = (request) => {
    const entry = toolbox.find(detailsOf(request).interrupt.toolRequest.name);
    if (entry === undefined) return noticeTexts.toolGone;
    const built = buildEditModal(request, entry.tool.inputSchema, entry.presentation.formatOf);
    return built.ok ? built.view : built.reason;
  };
  onOpen(ids.EDIT, editModal);
  onOpen(ids.EDIT_STEP, editModal);
  app.action(ids.OPEN_LINK, ({ ack }) => ack());
  onOpen(ids.FILL_IN, async (request, click) => {
    const { interrupt } = detailsOf(request);
    const asked = elicitationOf(interrupt);
    // The address may be meant for one person alone.
    const problem = asked && (await authorizeAnswer(context, click, request)).problem;
    if (problem !== undefined) return ineligibleText(problem, noticeTexts.notAnswerer);
    const link = asked && buildUrlModal(request, asked);
    if (link !== undefined) return link;
    const schema = awaitedSchema(interrupt);
    if (schema === undefined) return noticeTexts.formUnreadable;
    const built = buildOutputModal(request, schema);
    return built.ok ? built.view : built.reason;
  });
  for (const [id, step] of [
    [ids.PREVIOUS_PAGE, -1],
    [ids.NEXT_PAGE, 1],
  ] as const) {
    app.action<BlockAction>(id, async ({ ack, action, body, client, respond }) => {
      await ack();
      await showDetails(context, readClick(body, action, client, respond), step);
    });
  }
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

function pickedIn(body: BlockAction): number[] {
  return Object.values(body.state?.values ?? {})
    .flatMap((block) => Object.entries(block))
    .filter(([id]) => id === ids.CHOOSE_SEVERAL)
    .flatMap(([, input]) => input.selected_options ?? [])
    .map(({ value }) => Number(value));
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
