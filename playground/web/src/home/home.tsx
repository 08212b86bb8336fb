import { useRef } from 'react';
import { Blocks } from '../blocks/blocks.tsx';
import { useChannels, useEntity, useWorkspace } from '../client/store.ts';
import { PaneHeader } from '../conversation/pane-header.tsx';
import { Avatar } from '../people/avatar.tsx';
import { useKeptFocus } from '../use-kept-focus.ts';
import { AppTabs, useOpenedTab } from './app-tabs.tsx';
import '../conversation/conversation.css';
import './home.css';

/** The app's Home tab as it was last published for this person. */
export function Home() {
  const { app } = useWorkspace();
  const home = useEntity('home');
  const direct = useChannels().find(({ type, members }) => type === 'im' && members.includes(app.botUserId));
  const content = useRef<HTMLElement>(null);
  const keptFocus = useKeptFocus(content);
  useOpenedTab('home');
  return (
    <section className="conversation" aria-label={`${app.name}, Home`}>
      <PaneHeader>
        <Avatar userId={app.botUserId} size={26} />
        <h2>{app.name}</h2>
      </PaneHeader>
      <AppTabs open="home" channel={direct?.id} />
      <section
        ref={content}
        className="home"
        aria-label="Home" // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
        {...keptFocus}
      >
        {home === undefined ? (
          <p className="home-empty">{app.name} hasn't published a Home tab for you yet.</p>
        ) : (
          <Blocks blocks={home.view.blocks} target={{ viewId: home.view.id }} />
        )}
      </section>
    </section>
  );
}
