import type { App, BlockAction, BlockElementAction, RespondFn } from '@slack/bolt';
import type { ViewsOpenArguments, WebClient } from '@slack/web-api';
import type { RequestRecord } from '../../store/port/store.ts';
import * as ids from '../cards/action-ids.ts';
import { questionOf } from '../cards/card-details.ts';
import type { BotContext } from '../context.ts';
import { castVote } from '../decisions/cast-vote.ts';
import { type Click, checkClick, decideInTrace, type Notice } from '../decisions/click.ts';
import { answer, askAgain, showAddress, withdraw } from '../decisions/decide.ts';
import { NOT_FOUND } from '../decisions/refusal-text.ts';
import { refreshHome } from '../home/show-home.ts';
import { buildAnswerModal } from '../modals/answer-modal.ts';
import { buildDetailsModal } from '../modals/details-modal.ts';
import { buildEditModal, buildOutputModal } from '../modals/form-modal.ts';
import { type Modal, parseMetadata } from '../modals/modal.ts';
import { buildRejectModal } from '../modals/reject-modal.ts';
import { buildResolveModal } from '../modals/resolve-modal.ts';
import { awaitedSchema } from '../requests/awaited-schema.ts';
import { detailsOf } from '../requests/request-details.ts';
import { tellPrivately } from './tell-privately.ts';

/** A click on a button or a menu, with what it takes to respond to it. */
interface CardClick {
  readonly requestId: string;
  readonly click: Click;
  readonly triggerId: string;
  readonly client: WebClient;
  readonly respond: RespondFn;
  readonly body: BlockAction;
}

type Decide = (request: RequestRecord, clicked: CardClick, action: BlockElementAction) => Promise<Notice>;
type BuildModal = (request: RequestRecord) => Modal | string;

/** Turns clicks on cards into decisions and modals. A decision is on record before the click is acknowledged. */
export function listenToActions(app: App, context: BotContext): void {
  const { toolbox } = context;

  const onDecision = (id: string | RegExp, decide: Decide): void => {
    app.action<BlockAction>(id, async ({ ack, action, body, client, respond }) => {
      const clicked = readClick(body, action, client, respond);
      const checked = await checkClick(context, clicked.requestId, clicked.click);
      const notice = checked.ok
        ? await decideInTrace(checked.request, () => decide(checked.request, clicked, action))
        : checked.notice;
      await ack();
      if (notice !== undefined) await tellPrivately(clicked, notice);
      else if (body.view?.type === 'modal')
        await Promise.all([showDetails(context, clicked), refreshHome(context, body.user.id)]);
    });
  };
  const onOpen = (id: string, build: BuildModal): void => {
    app.action<BlockAction>(id, async ({ ack, action, body, client, respond }) => {
      await ack();
      const clicked = readClick(body, action, client, respond);
      const loaded = await context.store.load(clicked.requestId);
      const view = loaded.outcome === 'found' ? build(loaded.request) : NOT_FOUND;
      if (typeof view === 'string') await tellPrivately(clicked, view);
      else await open(clicked, view);
    });
  };

  onDecision(ids.APPROVE, (request, { click }) => castVote(context, request, click, 'approve'));
  onDecision(ids.WITHDRAW, (request, { click }) => withdraw(context, request.id, click));
  onDecision(ids.SHOW_ADDRESS, (request, { click }) => showAddress(context, request, click));
  onDecision(ids.ASK_AGAIN, (request, { click }) => askAgain(context, request, click));
  onDecision(new RegExp(`^${ids.CHOOSE}:\\d+$`), (request, { click }, action) =>
    choose(context, request, click, [Number(action.action_id.slice(ids.CHOOSE.length + 1))]),
  );
  onDecision(ids.CHOOSE_FROM_MENU, (request, { click }, action) =>
    choose(
      context,
      request,
      click,
      action.type === 'static_select' ? [Number(action.selected_option.value)] : [],
    ),
  );
  onDecision(ids.SUBMIT_CHOICES, (request, { click, body }) =>
    choose(context, request, click, pickedIn(body)),
  );
  // Ticked choices count when they are submitted.
  app.action(ids.CHOOSE_SEVERAL, ({ ack }) => ack());

  onOpen(ids.REJECT, buildRejectModal);
  onOpen(ids.ANSWER, buildAnswerModal);
  onOpen(ids.DETAILS, (request) => buildDetailsModal(request, { page: 0 }));
  for (const verdict of [ids.RAN, ids.DID_NOT_RUN, ids.RUN_AGAIN] as const) {
    onOpen(verdict, (request) => buildResolveModal(request, verdict));
  }
  onOpen(ids.EDIT, (request) => {
    const entry = toolbox.find(detailsOf(request).interrupt.toolRequest.name);
    if (entry === undefined) return 'The tool is not there any more.';
    const built = buildEditModal(request, entry.tool.inputSchema);
    return built.ok ? built.view : built.reason;
  });
  onOpen(ids.FILL_IN, (request) => {
    const { interrupt } = detailsOf(request);
    const schema = awaitedSchema(interrupt, toolbox.find(interrupt.toolRequest.name));
    if (schema === undefined) return 'This form cannot be shown.';
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

function readClick(
  body: BlockAction,
  action: BlockElementAction,
  client: WebClient,
  respond: RespondFn,
): CardClick {
  const own = 'value' in action && typeof action.value === 'string' ? action.value : undefined;
  return {
    // A menu has no value of its own; its block is named after the request.
    requestId: own ?? action.block_id,
    click: {
      who: body.user.id,
      id: action.action_ts,
      team: body.user.team_id,
      channel: body.container.type === 'message' ? body.container.channel_id : undefined,
    },
    triggerId: body.trigger_id,
    client,
    respond,
    body,
  };
}

async function choose(
  context: BotContext,
  request: RequestRecord,
  click: Click,
  picked: readonly number[],
): Promise<Notice> {
  const { choices, several } = questionOf(request);
  const answers = picked.flatMap((index) => choices[index] ?? []);
  const [first] = answers;
  if (first === undefined) return 'Please choose something first.';
  return answer(context, request, click, several ? answers : first);
}

function pickedIn(body: BlockAction): number[] {
  return Object.values(body.state?.values ?? {})
    .flatMap((block) => Object.entries(block))
    .filter(([id]) => id === ids.CHOOSE_SEVERAL)
    .flatMap(([, input]) => input.selected_options ?? [])
    .map(({ value }) => Number(value));
}

/** Opens a modal, on top of the one that was clicked if there is one. */
async function open({ client, triggerId, body }: CardClick, view: Modal): Promise<void> {
  const argumentsFor: ViewsOpenArguments = { trigger_id: triggerId, view };
  await (body.view?.type === 'modal' ? client.views.push(argumentsFor) : client.views.open(argumentsFor));
}

async function showDetails(
  { store }: BotContext,
  { client, body, requestId }: CardClick,
  step = 0,
): Promise<void> {
  const { view } = body;
  const loaded = await store.load(requestId);
  if (view === undefined || loaded.outcome !== 'found') return;
  const page = (parseMetadata(view.private_metadata)?.page ?? 0) + step;
  await client.views.update({
    view_id: view.id,
    view: buildDetailsModal(loaded.request, { page }),
  });
}
