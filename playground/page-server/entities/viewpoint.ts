import { canSee } from '../../slack/people/interaction.ts';
import type { Channel, Message, User } from '../../slack/state/types.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import { placeName, type SavedReads } from '../read-positions.ts';

/** The workspace as far as one person can see it: every entity of their client is made from this. */
export interface Viewpoint {
  readonly state: WorkspaceState;
  readonly user: User;
  readonly reads: SavedReads;
  /** The conversations they can read, by id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** What is said there by the place it is said in, oldest first; a thread's root stands in the main line. */
  readonly places: ReadonlyMap<string, readonly Message[]>;
}

/** What one person can see of the workspace now. */
export function takeViewpoint(state: WorkspaceState, userId: string, reads: SavedReads): Viewpoint {
  const user = state.users.get(userId);
  if (user === undefined) throw new Error(`There is no user ${userId} in this workspace.`);
  const channels = new Map([...state.channels].filter(([, channel]) => canSee(state, user, channel)));
  const places = new Map<string, Message[]>();
  for (const message of state.messages) {
    if (message.deleted || !channels.has(message.channel)) continue;
    const place = placeName(message.channel, message.thread_ts);
    const there = places.get(place);
    if (there === undefined) places.set(place, [message]);
    else there.push(message);
  }
  return { state, user, reads, channels, places };
}
