import { useEffect } from 'react';
import { nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { allUnread } from '../sidebar/unread.ts';
import { useRoute } from './routes.ts';
import { screenName } from './screen-name.ts';

/** Keeps the window's title up to date: unread count, screen and person. */
export function useDocumentTitle(): void {
  const entities = useEntities();
  const { screen } = useRoute();
  const { me, team } = useWorkspace();
  const unread = allUnread(entities);
  const count = unread > 0 ? `(${unread}) ` : '';
  const title = `${count}${screenName(entities, screen)} as ${nameOf(entities, me)} - ${team.name}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
}
