import { makeId } from '../ids.ts';
import type { Channel, JsonObject } from '../state/types.ts';
import type { WorkspaceEvent, WorkspaceState } from '../state/workspace-state.ts';
import { CHANNEL_SCOPES, EVENT_SCOPES } from '../web-api/scopes.ts';

/**
 * Builds Slack's payload for an event, or nothing when the app is not subscribed or its bot is not in the channel. Marks
 * the scope and the subscription as used.
 */
export function eventPayload(
  state: WorkspaceState,
  { subscription, event, channel }: WorkspaceEvent,
): JsonObject | undefined {
  const { app } = state;
  if (!app.events.includes(subscription)) return undefined;
  if (channel !== undefined && !channel.members.has(app.botUserId)) return undefined;
  const byKind = channel === undefined ? [] : [CHANNEL_SCOPES.read[channel.kind]];
  const scopes = EVENT_SCOPES[subscription];
  const scope = byKind.find((each) => scopes.includes(each)) ?? scopes[0];
  if (scope !== undefined) state.used.scopes.add(scope);
  state.used.events.add(subscription);
  return envelope(state, event, channel);
}

function envelope(state: WorkspaceState, event: JsonObject, channel?: Channel): JsonObject {
  const { app, team } = state;
  const members = channel === undefined ? [] : [...channel.members];
  const isShared = members.some((id) => (state.users.get(id)?.team_id ?? team.id) !== team.id);
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
