import type { Deliveries } from '../delivery/deliveries.ts';
import type { Channel, JsonObject, User } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { Triggers } from './triggers.ts';

/** What people act on and through. */
export interface Surroundings {
  state: WorkspaceState;
  triggers: Triggers;
  responseUrls: ResponseUrls;
  deliveries: Deliveries;
}

/** What every interaction payload says of the person, the workspace and the app. */
export function interactionBase({ state }: Surroundings, user: User): JsonObject {
  return {
    team: { id: state.team.id, domain: state.team.domain },
    user: { id: user.id, username: user.name, name: user.name, team_id: user.team_id },
    api_app_id: state.app.id,
    token: state.app.verificationToken,
    enterprise: null,
    is_enterprise_install: false,
  };
}

/** The name Slack gives a channel in interactions, which hides those of private ones. */
export function channelNameFor(channel: Channel): string {
  return { public: channel.name, private: 'privategroup', im: 'directmessage' }[channel.kind];
}

/** The channel, if this person can read it: guests and people of other workspaces only where they are members. */
export function requireSight({ state }: Surroundings, user: User, channelId: string): Channel {
  const channel = state.channels.get(channelId);
  if (channel === undefined) throw new Error(`There is no channel ${channelId} in this workspace.`);
  const isFullMember = !user.is_restricted && !user.is_ultra_restricted && user.team_id === state.team.id;
  if (!channel.members.has(user.id) && !(channel.kind === 'public' && isFullMember)) {
    throw new Error(`${user.name} cannot see #${channel.name}; add ${user.id} to its members.`);
  }
  return channel;
}
