import { useEffect } from 'react';
import { ModalStack } from './blocks/modal/modal.tsx';
import { connectAs, useConnection } from './client/connection.ts';
import { useEntity, useWorkspace } from './client/store.ts';
import { Conversation } from './conversation/conversation.tsx';
import { Home } from './home/home.tsx';
import { useRoute } from './navigation/routes.ts';
import { useDocumentTitle } from './navigation/use-document-title.ts';
import { useVisibleScreen } from './navigation/use-visible-screen.ts';
import { usePanes } from './panes/panes.ts';
import { useShownPane } from './panes/shown-pane.ts';
import { SidePanel } from './side-panel/side-panel.tsx';
import { Sidebar } from './sidebar/sidebar.tsx';
import { Thread } from './thread/thread.tsx';
import { ToastList } from './toasts/toasts.tsx';
import { TourBar } from './tour/tour-bar.tsx';
import { useOpening } from './tour/use-opening.ts';
import './app.css';

/** The page: one person's Slack client and the side panel. */
export function App() {
  const { as } = useRoute();
  useEffect(() => connectAs(as), [as]);
  const isHere = useEntity('workspace') !== undefined;
  return isHere ? <Client /> : <ConnectingPage />;
}

function Client() {
  const { screen } = useRoute();
  const { me, team } = useWorkspace();
  const { panel } = usePanes();
  const shownPane = useShownPane();
  const isVisible = useVisibleScreen();
  useDocumentTitle();
  useOpening();
  const threadTs = screen.kind === 'channel' ? screen.threadTs : undefined;
  return (
    <>
      <a className="skip-link" href="#screens">
        Skip to the conversation
      </a>
      {threadTs !== undefined && (
        <a className="skip-link" href="#thread">
          Skip to the thread
        </a>
      )}
      <header className="visually-hidden">
        <h1>{team.name}</h1>
      </header>
      <ConnectionBanner />
      <div
        className="app"
        data-pane={shownPane}
        data-beside={besideLayout(threadTs !== undefined, panel !== undefined)}
      >
        <Sidebar />
        <main className="screens" id="screens" tabIndex={-1}>
          {screen.kind === 'home' && <Home key={me} />}
          {screen.kind === 'channel' && isVisible && (
            <Conversation key={`${me}:${screen.channel}`} channelId={screen.channel} />
          )}
          {screen.kind === 'channel' && isVisible && threadTs !== undefined && (
            <Thread
              key={`${me}:${screen.channel}:${threadTs}`}
              channelId={screen.channel}
              threadTs={threadTs}
            />
          )}
        </main>
        <SidePanel />
      </div>
      <TourBar />
      <ModalStack />
      <ToastList />
    </>
  );
}

function besideLayout(hasThread: boolean, hasPanel: boolean): 'none' | 'thread' | 'panel' | 'both' {
  if (hasThread) return hasPanel ? 'both' : 'thread';
  return hasPanel ? 'panel' : 'none';
}

function ConnectingPage() {
  const connection = useConnection();
  return (
    <main className="waiting">
      <h1>Countersign playground</h1>
      <p role="status">
        {connection === 'lost'
          ? 'The playground is not responding. Is it still running in your terminal? Reconnecting…'
          : 'Connecting…'}
      </p>
    </main>
  );
}

/** A banner while the server is away; the content stays readable. */
function ConnectionBanner() {
  const isLost = useConnection() === 'lost';
  return (
    <div role="status">
      {isLost && (
        <p className="connection-banner">
          The playground is not responding. Is it still running in your terminal? Reconnecting…
        </p>
      )}
    </div>
  );
}
