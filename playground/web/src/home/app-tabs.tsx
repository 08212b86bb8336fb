import { RouteLink } from '../route-link.tsx';
import { useWorkspace } from '../store.ts';

/** The two tabs of the app: its Home, where it has one, and the messages with it. */
export function AppTabs({ open, channel }: { open: 'home' | 'messages'; channel: string | undefined }) {
  const { app } = useWorkspace();
  return (
    <nav className="app-tabs" aria-label={app.name}>
      {app.homeTab && (
        <RouteLink
          className="app-tab"
          route={{ place: { kind: 'home' } }}
          aria-current={open === 'home' ? 'page' : undefined}
        >
          Home
        </RouteLink>
      )}
      {channel !== undefined && (
        <RouteLink
          className="app-tab"
          route={{ place: { kind: 'channel', channel } }}
          aria-current={open === 'messages' ? 'page' : undefined}
        >
          Messages
        </RouteLink>
      )}
    </nav>
  );
}
