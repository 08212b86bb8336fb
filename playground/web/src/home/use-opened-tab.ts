import { useEffect } from 'react';
import { act } from '../act.ts';
import { useWorkspace } from '../store.ts';

/** Tells the app, once each time it is opened, that this person looks at one of its tabs. */
export function useOpenedTab(tab: 'home' | 'messages' | undefined): void {
  const { me, app } = useWorkspace();
  const canOpen = tab === 'messages' || app.homeTab;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another person opens the tab anew.
  useEffect(() => {
    if (tab !== undefined && canOpen) void act('openHome', { tab });
  }, [tab, canOpen, me]);
}
