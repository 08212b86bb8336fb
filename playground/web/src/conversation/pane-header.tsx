import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';
import { openSidebar } from '../panes/panes.ts';
import { PanelToggles } from '../side-panel/panel-toggles.tsx';

/** The header of a pane, with a back button on a phone. */
export function PaneHeader({ children }: { children: ReactNode }) {
  return (
    <header className="pane-header">
      <button
        type="button"
        className="icon-button phone-only"
        aria-label="Back to the channels and people"
        onClick={openSidebar}
      >
        <Icon name="back" />
      </button>
      <div className="pane-header-title">{children}</div>
      <PanelToggles />
    </header>
  );
}
