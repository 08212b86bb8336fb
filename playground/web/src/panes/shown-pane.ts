import { useEffect, useRef } from 'react';
import { useRoute } from '../navigation/routes.ts';
import { closeThread } from '../thread/close-thread.ts';
import { closePanel, showScreen, useIsOnePane, useIsPhone, usePanes } from './panes.ts';

/** The front pane when only one fits. */
export type Pane = 'sidebar' | 'screen' | 'thread' | 'panel';

/** Returns the front pane when only one fits; navigation brings the screen to the front, Escape goes back to it. */
export function useShownPane(): Pane {
  const { screen } = useRoute();
  const { panel, isSidebarInFront } = usePanes();
  const isOnePane = useIsOnePane();
  const isPhone = useIsPhone();
  const hasThread = screen.kind === 'channel' && screen.threadTs !== undefined;
  const pane = isSidebarInFront && isPhone ? 'sidebar' : panelOr(panel, hasThread ? 'thread' : 'screen');
  useUncoveredRoute();
  useEffect(() => {
    if (!isOnePane) return;
    const stepBack = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || hasDialog()) return;
      if (pane === 'panel') closePanel();
      if (pane === 'thread') closeThread();
    };
    document.addEventListener('keydown', stepBack);
    return () => document.removeEventListener('keydown', stepBack);
  }, [isOnePane, pane]);
  return pane;
}

function panelOr(panel: string | undefined, otherwise: Pane): Pane {
  return panel === undefined ? otherwise : 'panel';
}

function useUncoveredRoute(): void {
  const route = useRoute();
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigating to the same screen brings it to the front too.
  useEffect(() => {
    if (!isFirst.current) showScreen();
    isFirst.current = false;
  }, [route]);
}

function hasDialog(): boolean {
  return document.querySelector('dialog[open], [role="dialog"]') !== null;
}
