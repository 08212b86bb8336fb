import { nameOf, useEntities } from '../store.ts';

/** Gives a function that names a person or a group; whoever is not known here keeps their id. */
export function useNames(): (id: string) => string {
  const entities = useEntities();
  return (id) => {
    const group = entities.get(`group:${id}`);
    return group?.kind === 'group' ? `@${group.handle}` : nameOf(entities, id);
  };
}
