import type { Deliveries } from '../delivery/deliveries.ts';
import type { Channel, JsonObject, User } from '../state/types.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { NotPossible } from './not-possible.ts';
import type { ResponseUrls } from './response-urls.ts';
import type { Triggers } from './triggers.ts';

/** Shared parts that people's actions use. */
export interface SlackContext {
  state: WorkspaceState;
  triggers: Triggers;
  responseUrls: ResponseUrls;
  deliveries: Deliveries;
}

/** Builds the part of an interaction payload about the person, the workspace and the app. */
export function interactionBase({ state }: SlackContext, user: User): JsonObject {
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
  const { name, kind } = channel;
  return { public: name, private: 'privategroup', im: 'directmessage', mpim: name }[kind];
}

/** Returns a channel that this person can read; throws otherwise. */
export function requireVisibleChannel({ state }: SlackContext, user: User, channelId: string): Channel {
  const channel = state.channels.get(channelId);
  const shown = "This conversation doesn't exist, or you can't see it.";
  if (channel === undefined)
    throw new NotPossible(`There is no channel ${channelId} in this workspace.`, { shown });
  if (!canSee(state, user, channel)) {
    throw new NotPossible(`${user.name} cannot see #${channel.name}; add ${user.id} to its members.`, {
      shown,
    });
  }
  return channel;
}

/** True when a person can read a channel: members, and full members of this workspace for a public one. */
export function canSee({ team }: WorkspaceState, user: User, channel: Channel): boolean {
  const isFullMember = !user.is_restricted && !user.is_ultra_restricted && user.team_id === team.id;
  return channel.members.has(user.id) || (channel.kind === 'public' && isFullMember);
}
