import { canSee } from '../../slack/people/interaction.ts';
import type { Channel, Message, User } from '../../slack/state/types.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import { type SavedReadPositions, timelineKey } from '../read-positions.ts';

/** The part of the workspace that one person can see; all entities of their client are built from it. */
export interface Viewpoint {
  readonly state: WorkspaceState;
  readonly user: User;
  readonly readPositions: SavedReadPositions;
  /** The conversations they can read, by id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Messages by timeline key, oldest first; the root of a thread is in the main timeline. */
  readonly timelines: ReadonlyMap<string, readonly Message[]>;
}

/** Selects the part of the workspace that one person can see now. */
export function viewpointOf(
  state: WorkspaceState,
  userId: string,
  readPositions: SavedReadPositions,
): Viewpoint {
  const user = state.users.get(userId);
  if (user === undefined) throw new Error(`There is no user ${userId} in this workspace.`);
  const channels = new Map([...state.channels].filter(([, channel]) => canSee(state, user, channel)));
  const timelines = new Map<string, Message[]>();
  for (const message of state.messages) {
    if (message.deleted || !channels.has(message.channel)) continue;
    const timeline = timelineKey(message.channel, message.thread_ts);
    const there = timelines.get(timeline);
    if (there === undefined) timelines.set(timeline, [message]);
    else there.push(message);
  }
  return { state, user, readPositions, channels, timelines };
}
