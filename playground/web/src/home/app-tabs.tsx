import { useEffect } from 'react';
import { act } from '../client/act.ts';
import { useWorkspace } from '../client/store.ts';
import { RouteLink } from '../navigation/route-link.tsx';

/** The two tabs of the app: its Home, where it has one, and the messages with it. */
export function AppTabs({ open, channel }: { open: 'home' | 'messages'; channel: string | undefined }) {
  const { app } = useWorkspace();
  return (
    <nav className="app-tabs" aria-label={app.name}>
      {app.homeTab && (
        <RouteLink
          className="app-tab"
          route={{ screen: { kind: 'home' } }}
          aria-current={open === 'home' ? 'page' : undefined}
        >
          Home
        </RouteLink>
      )}
      {channel !== undefined && (
        <RouteLink
          className="app-tab"
          route={{ screen: { kind: 'channel', channel } }}
          aria-current={open === 'messages' ? 'page' : undefined}
        >
          Messages
        </RouteLink>
      )}
    </nav>
  );
}

/** Sends `app_home_opened` each time a tab of the app is opened. */
export function useOpenedTab(tab: 'home' | 'messages' | undefined): void {
  const { me, app } = useWorkspace();
  const canOpen = tab === 'messages' || app.homeTab;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another person opens the tab anew.
  useEffect(() => {
    if (tab !== undefined && canOpen) void act('openHome', { tab });
  }, [tab, canOpen, me]);
}
