import type { KeyboardEvent } from 'react';
import { usePlayground } from '../client/store.ts';
import { Icon } from '../icon.tsx';
import { useRoute } from '../navigation/routes.ts';
import { closePanel, openPanel, type PanelTab, usePanes } from '../panes/panes.ts';
import { RecordPanel } from '../record-panel/record-panel.tsx';
import { TerminalPanel } from '../terminal/terminal-panel.tsx';
import { ToolsPanel } from '../tour/tools-panel.tsx';
import { TourPanel } from '../tour/tour-panel.tsx';
import { threadOfScreen } from '../tour/use-begin-step.ts';
import { focusTab, focusToggle, tabId } from './focus-tab.ts';
import { usePanelLabels } from './panel-labels.ts';
import './side-panel.css';

const TABS = ['tour', 'record', 'terminal'] as const;

/** The side panel with the tour, the record of the open thread and a terminal. */
export function SidePanel() {
  const { panel } = usePanes();
  const { screen } = useRoute();
  const { calls } = usePlayground();
  const labels = usePanelLabels();
  if (panel === undefined) return null;
  const threadId = threadOfScreen(screen);
  return (
    <aside className="side-panel" id="side-panel" aria-label={`${labels.tour}, record and terminal`}>
      <div className="side-panel-head">
        <Tabs chosen={panel} />
        <button
          type="button"
          className="icon-button"
          aria-label="Close the side panel"
          onClick={() => {
            closePanel();
            focusToggle(panel);
          }}
        >
          <Icon name="close" />
        </button>
      </div>
      <div
        className="side-panel-body"
        role="tabpanel"
        id="side-panel-body"
        aria-labelledby={tabId(panel)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
      >
        {panel === 'tour' && (calls === undefined ? <TourPanel /> : <ToolsPanel calls={calls} />)}
        {panel === 'record' && <RecordPanel threadId={threadId} />}
        {panel === 'terminal' && <TerminalPanel />}
      </div>
    </aside>
  );
}

function Tabs({ chosen }: { chosen: PanelTab }) {
  const labels = usePanelLabels();
  const moveByArrow = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const step = event.key === 'ArrowRight' ? 1 : -1;
    const other = TABS.at((TABS.indexOf(chosen) + step) % TABS.length) ?? chosen;
    openPanel(other);
    focusTab(other);
  };
  return (
    <div className="side-panel-tabs" role="tablist" aria-label="Side panel" onKeyDown={moveByArrow}>
      {TABS.map((tab) => (
        <button
          type="button"
          role="tab"
          key={tab}
          id={tabId(tab)}
          className="side-panel-tab"
          aria-selected={tab === chosen}
          aria-controls={tab === chosen ? 'side-panel-body' : undefined}
          tabIndex={tab === chosen ? 0 : -1}
          onClick={() => openPanel(tab)}
        >
          <Icon name={tab} />
          {labels[tab]}
        </button>
      ))}
    </div>
  );
}
