import type { Entity, PlaygroundEntity } from '../../protocol.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import type { SavedReadPositions } from '../read-positions.ts';
import { channelEntities } from './channels.ts';
import { messageEntities } from './messages.ts';
import { groupEntities, personEntities, workspaceEntity } from './people.ts';
import { statusEntities } from './statuses.ts';
import { threadEntities } from './threads.ts';
import { viewpointOf } from './viewpoint.ts';
import { viewEntities } from './views.ts';

/** What a person's client is made from, context the workspace itself. */
export interface EntityContext {
  readonly readPositions: SavedReadPositions;
  readonly playground: PlaygroundEntity;
  /** One line on each person, by user id. */
  readonly about: Readonly<Record<string, string>>;
}

/** Everything one person's client shows, and nothing that they could not see in Slack. */
export function entitiesFor(state: WorkspaceState, userId: string, context: EntityContext): Entity[] {
  const viewpoint = viewpointOf(state, userId, context.readPositions);
  return [
    workspaceEntity(viewpoint),
    ...personEntities(viewpoint, context.about),
    ...groupEntities(viewpoint),
    ...channelEntities(viewpoint),
    ...messageEntities(viewpoint),
    ...threadEntities(viewpoint),
    ...statusEntities(viewpoint),
    ...viewEntities(viewpoint),
    context.playground,
  ];
}
