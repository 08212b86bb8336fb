import type { Channel, ChannelKind, EventSubscription, JsonObject } from '../state/types.ts';
import { messageOnWire } from '../state/wire.ts';
import type { MessageChange, WorkspaceEvent, WorkspaceState } from '../state/workspace-state.ts';

const SUBSCRIPTIONS: Readonly<Record<ChannelKind, EventSubscription>> = {
  public: 'message.channels',
  private: 'message.groups',
  im: 'message.im',
  mpim: 'message.mpim',
};
const CHANNEL_TYPES: Readonly<Record<ChannelKind, string>> = {
  public: 'channel',
  private: 'group',
  im: 'im',
  mpim: 'mpim',
};

/** Builds the events of a message change: the message event, and `app_mention` for a mention. */
export function messageEvents(state: WorkspaceState, change: MessageChange): WorkspaceEvent[] {
  const channel = state.channels.get(change.message.channel);
  if (channel === undefined) return [];
  const event = messageEvent(state, channel, change);
  const events: WorkspaceEvent[] = [{ subscription: SUBSCRIPTIONS[channel.kind], event, channel }];
  if (isMention(state, channel, change)) {
    events.push({ subscription: 'app_mention', event: mentionEvent(state, change), channel });
  }
  return events;
}

function messageEvent(state: WorkspaceState, channel: Channel, change: MessageChange): JsonObject {
  const { message } = change;
  const location = { channel: channel.id, channel_type: CHANNEL_TYPES[channel.kind] };
  const shown = { ...messageOnWire(state, message), ...origin(state, message.team) };
  switch (change.kind) {
    case 'posted':
      return { ...shown, ...location, event_ts: message.ts };
    case 'edited':
      return {
        type: 'message',
        subtype: 'message_changed',
        message: shown,
        previous_message: messageOnWire(state, message, change.before),
        ...location,
        hidden: true,
        ts: change.ts,
        event_ts: change.ts,
      };
    case 'deleted':
      return {
        type: 'message',
        subtype: 'message_deleted',
        previous_message: shown,
        ...location,
        hidden: true,
        deleted_ts: message.ts,
        ts: change.ts,
        event_ts: change.ts,
      };
  }
}

function mentionEvent(state: WorkspaceState, change: MessageChange): JsonObject {
  const { message } = change;
  // A mention with files has no subtype.
  const { subtype: _, ...shown } = messageOnWire(state, message);
  return {
    ...shown,
    ...origin(state, message.team),
    type: 'app_mention',
    channel: message.channel,
    event_ts: change.kind === 'posted' ? message.ts : change.ts,
  };
}

/** True for a mention of the bot; direct messages, also those of a group, and the bot's own messages never count, an edited mention counts again. */
function isMention(state: WorkspaceState, channel: Channel, change: MessageChange): boolean {
  if (
    channel.kind === 'im' ||
    channel.kind === 'mpim' ||
    change.kind === 'deleted' ||
    change.message.subtype === 'tombstone'
  )
    return false;
  if (change.message.user === state.app.botUserId) return false;
  return change.message.text.includes(`<@${state.app.botUserId}>`);
}

function origin(state: WorkspaceState, team: string): JsonObject {
  return team === state.team.id ? {} : { user_team: team, source_team: team };
}
