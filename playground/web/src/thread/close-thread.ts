import { navigate, readRoute } from '../navigation/routes.ts';

/** Closes the open thread and focuses the link that opens it, if it is on the screen. */
export function closeThread(): void {
  const { screen } = readRoute();
  if (screen.kind !== 'channel' || screen.threadTs === undefined) return;
  const { channel, threadTs } = screen;
  navigate({ screen: { kind: 'channel', channel } });
  window.requestAnimationFrame(() => {
    document.querySelector<HTMLElement>(`.conversation [data-ts="${threadTs}"] .replies-link`)?.focus();
  });
}
