import type { Entity, PlaygroundEntity } from '../../protocol.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import type { SavedReads } from '../read-positions.ts';
import { channelEntities } from './channels.ts';
import { messageEntities } from './messages.ts';
import { groupEntities, personEntities, workspaceEntity } from './people.ts';
import { statusEntities } from './statuses.ts';
import { threadEntities } from './threads.ts';
import { takeViewpoint } from './viewpoint.ts';
import { viewEntities } from './views.ts';

/** What a person's client is made from, beside the workspace itself. */
export interface Beside {
  readonly reads: SavedReads;
  readonly playground: PlaygroundEntity;
  /** One line on each person, by user id. */
  readonly about: Readonly<Record<string, string>>;
}

/** Everything one person's client shows, and nothing that they could not see in Slack. */
export function entitiesFor(state: WorkspaceState, userId: string, beside: Beside): Entity[] {
  const viewpoint = takeViewpoint(state, userId, beside.reads);
  return [
    workspaceEntity(viewpoint),
    ...personEntities(viewpoint, beside.about),
    ...groupEntities(viewpoint),
    ...channelEntities(viewpoint),
    ...messageEntities(viewpoint),
    ...threadEntities(viewpoint),
    ...statusEntities(viewpoint),
    ...viewEntities(viewpoint),
    beside.playground,
  ];
}
