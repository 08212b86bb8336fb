import type { InteractionOutcome } from '../socket-mode/delivery.ts';
import { elementsOf } from '../state/normalize-blocks.ts';
import type { Block, EphemeralMessage, JsonObject, Message, User, View } from '../state/types.ts';
import { messageOnWire, viewOnWire } from '../state/wire.ts';
import { collectState, type InputValue, keepsState, optionsOf, stateOf } from './element-values.ts';
import { channelNameFor, interactionBase, requireSight, type Surroundings } from './interaction.ts';

/** Something with blocks on a person's screen: a message, an ephemeral one, or a view. */
export type ClickTarget = { channel: string; ts: string } | { viewId: string };

export interface ClickOptions {
  /** For a button, which of several with the same action; for a menu, the value of the option to choose. */
  value?: InputValue;
  blockId?: string;
  /** What the person filled in beside it, by block or action id. */
  values?: Readonly<Record<string, InputValue>>;
  /** Sends the click even if the element is gone or never was there, as a stale screen or a forger would. */
  force?: boolean;
}

type Shown =
  | { kind: 'message'; message: Message; blocks: readonly Block[]; older: readonly (readonly Block[])[] }
  | { kind: 'ephemeral'; message: EphemeralMessage; blocks: readonly Block[]; older: readonly [] }
  | { kind: 'view'; view: View; blocks: readonly Block[]; older: readonly [] };

/** Sends the `block_actions` of a click, and refuses one that a person could not make on what is shown now. */
export function click(
  around: Surroundings,
  user: User,
  target: ClickTarget,
  actionId: string,
  options: ClickOptions = {},
): Promise<InteractionOutcome> {
  const shown = findShown(around, user, target, options.force ?? false);
  const { block, element } = findClicked(shown, actionId, options);
  const action = {
    action_id: actionId,
    block_id: block.block_id,
    ...actionOf(element, options),
    action_ts: around.state.clock.next(),
  };
  const isThere = shown.blocks.some((each) => each.block_id === block.block_id);
  const own =
    keepsState(element) && options.value !== undefined && isThere ? { [actionId]: options.value } : {};
  const values = collectState(shown.blocks, { ...own, ...options.values });
  return around.socketMode.deliverInteraction('interactive', {
    type: 'block_actions',
    ...interactionBase(around, user),
    trigger_id: around.triggers.issue(user.id),
    ...placeOf(around, user, shown, values),
    actions: [action],
  });
}

function findShown(around: Surroundings, user: User, target: ClickTarget, force: boolean): Shown {
  const { state } = around;
  if ('viewId' in target) {
    const view = state.views.get(target.viewId);
    if (view === undefined || (!force && (view.viewer !== user.id || !view.open))) {
      throw new Error(`${user.name} does not have the view ${target.viewId} open.`);
    }
    return { kind: 'view', view, blocks: view.blocks, older: [] };
  }
  if (!force) requireSight(around, user, target.channel);
  const ephemeral = state.ephemerals.find((each) => each.ts === target.ts && each.channel === target.channel);
  if (ephemeral !== undefined) {
    if (!force && (ephemeral.deleted || ephemeral.viewer !== user.id)) {
      throw new Error(`${user.name} does not see the ephemeral message ${target.ts}.`);
    }
    return { kind: 'ephemeral', message: ephemeral, blocks: ephemeral.blocks, older: [] };
  }
  const message = state.messages.find((each) => each.ts === target.ts && each.channel === target.channel);
  if (message === undefined || (message.deleted && !force)) {
    throw new Error(
      `There is no message ${target.ts} in ${target.channel} to click on; it may have been deleted.`,
    );
  }
  return {
    kind: 'message',
    message,
    blocks: message.blocks,
    older: message.history.map((each) => each.blocks),
  };
}

function findClicked(shown: Shown, actionId: string, options: ClickOptions) {
  const candidates = matching(shown.blocks, actionId, options);
  const [only] = candidates;
  if (candidates.length > 1) {
    throw new Error(
      `${candidates.length} elements have the action ${actionId}; say which with value or blockId.`,
    );
  }
  if (only !== undefined) return only;
  if (!(options.force ?? false)) {
    const there = shown.blocks.flatMap((block) =>
      elementsOf(block).map((element) => String(element.action_id)),
    );
    const list = there.length === 0 ? 'nothing' : there.join(', ');
    throw new Error(
      `Nobody can click ${actionId} here now: what is shown offers ${list}. Use force for a stale click.`,
    );
  }
  const stale = shown.older.toReversed().flatMap((blocks) => matching(blocks, actionId, options));
  const forged = {
    block: { type: 'actions', block_id: options.blockId ?? 'forged' },
    element: {
      type: 'button',
      text: { type: 'plain_text', text: actionId, emoji: true },
      value: options.value,
    },
  };
  return stale[0] ?? forged;
}

function matching(blocks: readonly Block[], actionId: string, { value, blockId }: ClickOptions) {
  return blocks
    .filter((block) => blockId === undefined || block.block_id === blockId)
    .flatMap((block) => elementsOf(block).map((element) => ({ block, element })))
    .filter(({ element }) => element.action_id === actionId)
    .filter(({ element }) => element.type !== 'button' || value === undefined || element.value === value);
}

function actionOf(element: JsonObject, { value }: ClickOptions): JsonObject {
  const {
    action_id: _actionId,
    options: _options,
    option_groups: _groups,
    ...shown
  } = structuredClone(element);
  switch (element.type) {
    case 'button':
    case 'icon_button':
      return shown;
    case 'feedback_buttons': {
      const chosen = [element.positive_button, element.negative_button].find(
        (each) => typeof each === 'object' && each !== null && 'value' in each && each.value === value,
      );
      if (chosen === undefined) throw new Error(`The feedback buttons have no value ${String(value)}.`);
      return { type: 'feedback_buttons', ...structuredClone(chosen) };
    }
    case 'overflow': {
      const selected = optionsOf(element).find((option) => option.value === value);
      if (selected === undefined) throw new Error(`The menu has no option ${String(value)}.`);
      return { type: 'overflow', selected_option: selected };
    }
    default:
      return { ...shown, ...stateOf(element, value) };
  }
}

function placeOf(around: Surroundings, user: User, shown: Shown, values: JsonObject): JsonObject {
  const { state, responseUrls } = around;
  if (shown.kind === 'view') {
    const { view } = shown;
    return { container: { type: 'view', view_id: view.id }, view: viewOnWire(state, view, values) };
  }
  const { message } = shown;
  const channel = state.channels.get(message.channel);
  const thread = message.thread_ts === undefined ? {} : { thread_ts: message.thread_ts };
  const target = {
    userId: user.id,
    channel: message.channel,
    messageTs: message.ts,
    ...(message.thread_ts !== undefined && { threadTs: message.thread_ts }),
  };
  return {
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: message.channel,
      is_ephemeral: shown.kind === 'ephemeral',
      ...thread,
    },
    channel: { id: message.channel, name: channel === undefined ? '' : channelNameFor(channel) },
    ...(shown.kind === 'message' && {
      message: messageOnWire(state, shown.message, shown.message, { metadata: true }),
    }),
    state: { values },
    response_url: responseUrls.issue('actions', target),
  };
}
