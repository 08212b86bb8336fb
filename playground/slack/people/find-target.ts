import type { Block, EphemeralMessage, JsonObject, Message, User, View } from '../state/types.ts';
import { messageOnWire, viewOnWire } from '../state/wire.ts';
import { channelNameFor, requireVisibleChannel, type SlackContext } from './interaction.ts';
import { NotPossible } from './not-possible.ts';

/** A message, an ephemeral message or a view on a person's screen. */
export type ClickTarget = { channel: string; ts: string } | { viewId: string };

/** The target with its current and earlier blocks. */
export type FoundTarget =
  | { kind: 'message'; message: Message; blocks: readonly Block[]; older: readonly (readonly Block[])[] }
  | { kind: 'ephemeral'; message: EphemeralMessage; blocks: readonly Block[]; older: readonly [] }
  | { kind: 'view'; view: View; blocks: readonly Block[]; older: readonly [] };

const GONE = 'This message no longer exists.';

/** Finds the target of a person's click; with `force` also one that is no longer visible. */
export function findTarget(
  context: SlackContext,
  user: User,
  target: ClickTarget,
  force: boolean,
): FoundTarget {
  const { state } = context;
  if ('viewId' in target) {
    const view = state.views.get(target.viewId);
    if (view === undefined || (!force && (view.viewer !== user.id || !view.open))) {
      throw new NotPossible(`${user.name} does not have the view ${target.viewId} open.`, {
        shown: 'This is no longer open.',
      });
    }
    return { kind: 'view', view, blocks: view.blocks, older: [] };
  }
  if (!force) requireVisibleChannel(context, user, target.channel);
  const ephemeral = state.ephemerals.find((each) => each.ts === target.ts && each.channel === target.channel);
  if (ephemeral !== undefined) {
    if (!force && (ephemeral.deleted || ephemeral.viewer !== user.id)) {
      throw new NotPossible(`${user.name} does not see the ephemeral message ${target.ts}.`, { shown: GONE });
    }
    return { kind: 'ephemeral', message: ephemeral, blocks: ephemeral.blocks, older: [] };
  }
  const message = state.messages.find((each) => each.ts === target.ts && each.channel === target.channel);
  if (message === undefined || (message.deleted && !force)) {
    throw new NotPossible(
      `There is no message ${target.ts} in ${target.channel} to click on; it may have been deleted.`,
      { shown: GONE },
    );
  }
  return {
    kind: 'message',
    message,
    blocks: message.blocks,
    older: message.history.map((each) => each.blocks),
  };
}

/** Builds the part of an interaction payload that describes its origin. */
export function originOf(
  context: SlackContext,
  user: User,
  shown: FoundTarget,
  values: JsonObject,
): JsonObject {
  const { state, responseUrls } = context;
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
