import { useSyncExternalStore } from 'react';
import { createSignal } from '../client/signal.ts';

/** The chosen theme; `system` follows the machine's setting. */
export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'theme';
const changed = createSignal();
const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');

/** Keeps the document's `data-theme` at `light` or `dark`. */
export function followTheme(): void {
  const draw = (): void => {
    const theme = readTheme();
    const isDark = theme === 'system' ? prefersDark.matches : theme === 'dark';
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  };
  prefersDark.addEventListener('change', draw);
  changed.subscribe(draw);
  draw();
}

/** The chosen theme. */
export function useTheme(): Theme {
  return useSyncExternalStore(changed.subscribe, readTheme);
}

/** Chooses a theme for all windows of this browser that open later, and for this one at once. */
export function chooseTheme(theme: Theme): void {
  window.localStorage.setItem(STORAGE_KEY, theme);
  changed.send();
}

function readTheme(): Theme {
  const kept = window.localStorage.getItem(STORAGE_KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}
