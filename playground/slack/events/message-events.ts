import { makeId } from '../ids.ts';
import type { Channel, ChannelKind, EventSubscription, JsonObject } from '../state/types.ts';
import { messageOnWire } from '../state/wire.ts';
import type { MessageChange, WorkspaceState } from '../state/workspace-state.ts';

const SUBSCRIPTIONS: Readonly<Record<ChannelKind, EventSubscription>> = {
  public: 'message.channels',
  private: 'message.groups',
  im: 'message.im',
};
const CHANNEL_TYPES: Readonly<Record<ChannelKind, string>> = {
  public: 'channel',
  private: 'group',
  im: 'im',
};

/** The events Slack sends the app for a change: those it subscribed to, of channels its bot is in. */
export function eventsFor(state: WorkspaceState, change: MessageChange): JsonObject[] {
  const channel = state.channels.get(change.message.channel);
  if (channel === undefined || !channel.members.has(state.app.botUserId)) return [];
  const events: JsonObject[] = [];
  if (state.app.events.includes(SUBSCRIPTIONS[channel.kind]))
    events.push(messageEvent(state, channel, change));
  if (state.app.events.includes('app_mention') && isMention(state, channel, change)) {
    events.push(mentionEvent(state, change));
  }
  return events.map((event) => envelope(state, channel, event));
}

function messageEvent(state: WorkspaceState, channel: Channel, change: MessageChange): JsonObject {
  const { message } = change;
  const place = { channel: channel.id, channel_type: CHANNEL_TYPES[channel.kind] };
  const shown = { ...messageOnWire(state, message), ...origin(state, message.team) };
  switch (change.kind) {
    case 'posted':
      return { ...shown, ...place, event_ts: message.ts };
    case 'edited':
      return {
        type: 'message',
        subtype: 'message_changed',
        message: shown,
        previous_message: messageOnWire(state, message, change.before),
        ...place,
        hidden: true,
        ts: change.ts,
        event_ts: change.ts,
      };
    case 'deleted':
      return {
        type: 'message',
        subtype: 'message_deleted',
        previous_message: shown,
        ...place,
        hidden: true,
        deleted_ts: message.ts,
        ts: change.ts,
        event_ts: change.ts,
      };
  }
}

function mentionEvent(state: WorkspaceState, change: MessageChange): JsonObject {
  const { message } = change;
  return {
    ...messageOnWire(state, message),
    ...origin(state, message.team),
    type: 'app_mention',
    channel: message.channel,
    event_ts: change.kind === 'posted' ? message.ts : change.ts,
  };
}

/** Direct messages are never mentions, nor are the bot's own; an edited mention counts again, marked as edited. */
function isMention(state: WorkspaceState, channel: Channel, change: MessageChange): boolean {
  if (channel.kind === 'im' || change.kind === 'deleted' || change.message.user === state.app.botUserId)
    return false;
  return change.message.text.includes(`<@${state.app.botUserId}>`);
}

function origin(state: WorkspaceState, team: string): JsonObject {
  return team === state.team.id ? {} : { user_team: team, source_team: team };
}

function envelope(state: WorkspaceState, channel: Channel, event: JsonObject): JsonObject {
  const { app, team } = state;
  const isShared = [...channel.members].some((id) => (state.users.get(id)?.team_id ?? team.id) !== team.id);
  return {
    token: app.verificationToken,
    team_id: team.id,
    context_team_id: team.id,
    context_enterprise_id: null,
    api_app_id: app.id,
    event,
    type: 'event_callback',
    event_id: makeId('Ev'),
    event_time: Math.floor(Date.now() / 1_000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: team.id,
        user_id: app.botUserId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: isShared,
    event_context: makeId('4-', 20),
  };
}
