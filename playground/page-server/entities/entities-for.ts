import type { Entity, PlaygroundEntity } from '../../protocol.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import type { SavedReadPositions } from '../read-positions.ts';
import { channelEntities } from './channels.ts';
import { messageEntities } from './messages.ts';
import { groupEntities, type PersonNotes, personEntities, workspaceEntity } from './people.ts';
import { statusEntities } from './statuses.ts';
import { threadEntities } from './threads.ts';
import { viewpointOf } from './viewpoint.ts';
import { viewEntities } from './views.ts';

/** Inputs of a person's client besides the workspace. */
export interface EntityContext {
  readonly readPositions: SavedReadPositions;
  readonly playground: PlaygroundEntity;
  /** One line on each person, by user id. */
  readonly about: PersonNotes;
}

/** Builds all entities of one person's client, and nothing that this person cannot see in Slack. */
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
