import { Icon } from '../icon.tsx';
import { openPanel, type PanelTab, usePanes } from '../panes/panes.ts';
import { focusTab } from './focus-tab.ts';
import { usePanelLabels } from './panel-labels.ts';

const TOGGLES: readonly PanelTab[] = ['tour', 'record', 'terminal'];

/** The buttons that open the side panel; hidden while it is open. */
export function PanelToggles() {
  const { panel } = usePanes();
  const labels = usePanelLabels();
  if (panel !== undefined) return null;
  return TOGGLES.map((tab) => (
    <button
      type="button"
      key={tab}
      className="panel-toggle"
      data-panel-toggle={tab}
      onClick={() => {
        openPanel(tab);
        focusTab(tab);
      }}
    >
      <Icon name={tab} />
      <span>{labels[tab]}</span>
    </button>
  ));
}
