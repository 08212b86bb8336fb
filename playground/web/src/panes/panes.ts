import { useSyncExternalStore } from 'react';
import { createSignal } from '../client/signal.ts';

/** The tabs of the side panel. */
export type PanelTab = 'tour' | 'record' | 'terminal';

/** The open panes beside the conversation. */
export interface Panes {
  /** The shown tab of the side panel; missing while the panel is closed. */
  readonly panel?: PanelTab;
  /** True when a phone shows the sidebar. */
  readonly isSidebarInFront: boolean;
}

const ONE_PANE = window.matchMedia('(max-width: 999px)');
const PHONE = window.matchMedia('(max-width: 768px)');
const changed = createSignal();
/** Shows the current act below the screen, on a phone, where only one pane fits. */
let panes: Panes = { isSidebarInFront: false, ...(!ONE_PANE.matches && { panel: 'tour' as const }) };

/** Returns the open panes. */
export function usePanes(): Panes {
  return useSyncExternalStore(changed.subscribe, () => panes);
}

/** True when the conversation, the thread and the side panel share one column. */
export function useIsOnePane(): boolean {
  return useSyncExternalStore(listenTo(ONE_PANE), () => ONE_PANE.matches);
}

/** True when the sidebar shares that column too. */
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

/** Brings the screen to the front when only one pane fits. */
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
