import type { PanelTab } from '../panes/panes.ts';

/** The id of a tab of the side panel. */
export function tabId(tab: PanelTab): string {
  return `side-panel-tab-${tab}`;
}

/** Focuses a tab of the side panel after the next render. */
export function focusTab(tab: PanelTab): void {
  window.requestAnimationFrame(() => document.getElementById(tabId(tab))?.focus());
}

/** Focuses the button that opens the side panel after the next render. */
export function focusToggle(tab: PanelTab): void {
  window.requestAnimationFrame(() => {
    const buttons = document.querySelectorAll<HTMLElement>(`[data-panel-toggle="${tab}"]`);
    [...buttons].find((button) => button.checkVisibility())?.focus();
  });
}
