import { usePlayground } from '../client/store.ts';
import type { PanelTab } from '../panes/panes.ts';

/** Names the tabs of the side panel; with a manifest of one's own its tools take the place of the tour. */
export function usePanelLabels(): Readonly<Record<PanelTab, string>> {
  const { calls } = usePlayground();
  return { tour: calls === undefined ? 'Tour' : 'Tools', record: 'Record', terminal: 'Terminal' };
}
