import { nameOf, useEntities, useWorkspace } from '../../store.ts';
import type { Choosable } from './menu-options.ts';

/** Who and what the person of this client can choose. */
export function useChoosable(): Choosable {
  const entities = useEntities();
  const all = [...entities.values()];
  return {
    people: all.filter((entity) => entity.kind === 'person').filter(({ role }) => role !== 'deactivated'),
    channels: all
      .filter((entity) => entity.kind === 'channel')
      .toSorted((one, other) => one.name.localeCompare(other.name)),
    nameOf: (userId) => nameOf(entities, userId),
    me: useWorkspace().me,
  };
}
