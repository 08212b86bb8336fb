import { Icon } from '../icon.tsx';
import { openPanel, type PanelTab, usePanes } from '../panes/panes.ts';
import { focusTab } from './focus-tab.ts';

const TOGGLES: readonly { readonly tab: PanelTab; readonly label: string }[] = [
  { tab: 'tour', label: 'Tour' },
  { tab: 'record', label: 'Record' },
  { tab: 'terminal', label: 'Terminal' },
];

/** The buttons that open the side panel; hidden while it is open. */
export function PanelToggles() {
  const { panel } = usePanes();
  if (panel !== undefined) return null;
  return TOGGLES.map(({ tab, label }) => (
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
      <span>{label}</span>
    </button>
  ));
}
