import { useSyncExternalStore } from 'react';
import { createSignal } from '../client/signal.ts';

/** The tabs of the side panel. */
export type PanelTab = 'tour' | 'record';

/** Which panes beside the conversation are open in this window. */
export interface Panes {
  /** The tab of the side panel that is shown; missing while the panel is closed. */
  readonly panel?: PanelTab;
  /** Whether the sidebar is what a phone shows. */
  readonly isSidebarInFront: boolean;
}

const ONE_PANE = window.matchMedia('(max-width: 999px)');
const PHONE = window.matchMedia('(max-width: 768px)');
const changed = createSignal();
let panes: Panes = { isSidebarInFront: false, ...(!ONE_PANE.matches && { panel: 'tour' as const }) };

/** Which panes are open. */
export function usePanes(): Panes {
  return useSyncExternalStore(changed.subscribe, () => panes);
}

/** True where the conversation, the thread and the side panel take turns in one column. */
export function useIsOnePane(): boolean {
  return useSyncExternalStore(listenTo(ONE_PANE), () => ONE_PANE.matches);
}

/** True where the sidebar takes its turn in that column too. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(listenTo(PHONE), () => PHONE.matches);
}

/** Opens the side panel at a tab. */
export function openPanel(panel: PanelTab): void {
  setPanes({ isSidebarInFront: false, panel });
}

/** Closes the side panel. */
export function closePanel(): void {
  setPanes({ isSidebarInFront: panes.isSidebarInFront });
}

/** Shows the sidebar on a phone. */
export function openSidebar(): void {
  setPanes({ ...panes, isSidebarInFront: true });
}

/** Uncovers the place that was gone to, where only one pane fits. */
export function showScreen(): void {
  setPanes({
    isSidebarInFront: false,
    ...(panes.panel !== undefined && !ONE_PANE.matches && { panel: panes.panel }),
  });
}

function setPanes(next: Panes): void {
  panes = next;
  changed.send();
}

function listenTo(query: MediaQueryList): (listener: () => void) => () => void {
  return (listener) => {
    query.addEventListener('change', listener);
    return () => query.removeEventListener('change', listener);
  };
}
