import type { App, BlockAction, BlockElementAction, RespondFn } from '@slack/bolt';
import type { ViewsOpenArguments, WebClient } from '@slack/web-api';
import type { RequestRecord } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import * as ids from '../cards/action-ids.ts';
import { questionOf } from '../cards/card-details.ts';
import { askAgain } from '../decisions/ask-again.ts';
import { answer, type Click, type Notice, vote, withdraw } from '../decisions/decide.ts';
import { showAddress } from '../decisions/show-address.ts';
import { refreshHome } from '../home/show-home.ts';
import { buildAnswerModal } from '../modals/answer-modal.ts';
import { buildDetailsModal } from '../modals/details-modal.ts';
import { buildEditModal, buildOutputModal } from '../modals/form-modal.ts';
import { type Modal, parseMetadata } from '../modals/modal.ts';
import { buildRejectModal } from '../modals/reject-modal.ts';
import { buildResolveModal } from '../modals/resolve-modal.ts';
import { detailsOf } from '../request-details.ts';
import { awaitedSchema } from '../requests/awaited-schema.ts';
import { foreignNotice, misplacedNotice } from './misplaced.ts';
import { tellPrivately } from './tell-privately.ts';

/** A click as the listeners see it. */
interface Clicked {
  readonly requestId: string;
  readonly click: Click;
  readonly triggerId: string;
  readonly client: WebClient;
  readonly respond: RespondFn;
  readonly body: BlockAction;
}

type Opens = (request: RequestRecord) => Modal | string;

/** Turns clicks on cards into decisions and modals. A decision is on record before Slack is told that the click arrived. */
export function listenToActions(app: App, parts: BotParts): void {
  const { toolbox } = parts;

  const onDecision = (
    id: string | RegExp,
    decide: (clicked: Clicked, action: BlockElementAction) => Promise<Notice>,
    inTheWay: (clicked: Clicked) => Promise<Notice> = ({ requestId, click, body }) =>
      misplacedNotice(parts, requestId, click, body.user),
  ): void => {
    app.action<BlockAction>(id, async ({ ack, action, body, client, respond }) => {
      const clicked = readClick(body, action, client, respond);
      const notice = (await inTheWay(clicked)) ?? (await decide(clicked, action));
      await ack();
      if (notice !== undefined) await tellPrivately(clicked, notice);
      else if (body.view?.type === 'modal')
        await Promise.all([showDetails(parts, clicked), refreshHome(parts, body.user.id)]);
    });
  };
  const onOpen = (id: string, opens: Opens): void => {
    app.action<BlockAction>(id, async ({ ack, action, body, client, respond }) => {
      await ack();
      const clicked = readClick(body, action, client, respond);
      const loaded = await parts.store.load(clicked.requestId);
      const view = loaded.outcome === 'found' ? opens(loaded.request) : 'This request is not known any more.';
      if (typeof view === 'string') await tellPrivately(clicked, view);
      else await open(clicked, view);
    });
  };

  // Where it was clicked is weighed with the vote, so that an approval is one step on the record.
  onDecision(
    ids.APPROVE,
    ({ requestId, click }) => vote(parts, requestId, click, 'approve'),
    ({ body }) => foreignNotice(parts, body.user),
  );
  onDecision(ids.WITHDRAW, ({ requestId, click }) => withdraw(parts, requestId, click));
  onDecision(ids.SHOW_ADDRESS, ({ requestId, click }) => showAddress(parts, requestId, click));
  onDecision(ids.ASK_AGAIN, ({ requestId, click }) => askAgain(parts, requestId, click));
  onDecision(new RegExp(`^${ids.CHOOSE}:\\d+$`), ({ requestId, click }, action) =>
    choose(parts, requestId, click, [Number(action.action_id.slice(ids.CHOOSE.length + 1))]),
  );
  onDecision(ids.CHOOSE_FROM_MENU, ({ requestId, click }, action) =>
    choose(
      parts,
      requestId,
      click,
      action.type === 'static_select' ? [Number(action.selected_option.value)] : [],
    ),
  );
  onDecision(ids.SUBMIT_CHOICES, ({ requestId, click, body }) =>
    choose(parts, requestId, click, pickedIn(body)),
  );
  // What is ticked counts when it is submitted.
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
      await showDetails(parts, readClick(body, action, client, respond), step);
    });
  }
}

function readClick(
  body: BlockAction,
  action: BlockElementAction,
  client: WebClient,
  respond: RespondFn,
): Clicked {
  const own = 'value' in action && typeof action.value === 'string' ? action.value : undefined;
  return {
    // A menu has no value of its own; its block is named after the request.
    requestId: own ?? action.block_id,
    click: {
      who: body.user.id,
      id: action.action_ts,
      channel: body.container.type === 'message' ? body.container.channel_id : undefined,
    },
    triggerId: body.trigger_id,
    client,
    respond,
    body,
  };
}

async function choose(
  parts: BotParts,
  requestId: string,
  click: Click,
  picked: readonly number[],
): Promise<Notice> {
  const loaded = await parts.store.load(requestId);
  if (loaded.outcome !== 'found') return 'This question is not known any more.';
  const { choices, several } = questionOf(loaded.request);
  const answers = picked.flatMap((index) => choices[index] ?? []);
  const [first] = answers;
  if (first === undefined) return 'Please choose something first.';
  return answer(parts, requestId, click, several ? answers : first);
}

function pickedIn(body: BlockAction): number[] {
  return Object.values(body.state?.values ?? {})
    .flatMap((block) => Object.entries(block))
    .filter(([id]) => id === ids.CHOOSE_SEVERAL)
    .flatMap(([, input]) => input.selected_options ?? [])
    .map(({ value }) => Number(value));
}

/** A modal opened from a modal stands on top of it. */
async function open({ client, triggerId, body }: Clicked, view: Modal): Promise<void> {
  const argumentsFor: ViewsOpenArguments = { trigger_id: triggerId, view };
  await (body.view?.type === 'modal' ? client.views.push(argumentsFor) : client.views.open(argumentsFor));
}

async function showDetails(
  { store }: BotParts,
  { client, body, requestId }: Clicked,
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
