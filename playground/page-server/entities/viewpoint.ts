import { canSee } from '../../slack/people/interaction.ts';
import type { Channel, Message, User } from '../../slack/state/types.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import { type SavedReadPositions, timelineKey } from '../read-positions.ts';

/** The workspace as far as one person can see it: every entity of their client is made from this. */
export interface Viewpoint {
  readonly state: WorkspaceState;
  readonly user: User;
  readonly readPositions: SavedReadPositions;
  /** The conversations they can read, by id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** What is said there by the place it is said in, oldest first; a thread's root stands in the main line. */
  readonly timelines: ReadonlyMap<string, readonly Message[]>;
}

/** What one person can see of the workspace now. */
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
