import { useSyncExternalStore } from 'react';

/** A view of the page: its path below the page, and its query. */
export interface Route {
  readonly path: string;
  readonly query: URLSearchParams;
}

const listeners = new Set<() => void>();

/** Returns where the person is; a link, Back and `goTo` change it. */
export function useRoute(): Route {
  const href = useSyncExternalStore(subscribe, () => location.href);
  const url = new URL(href);
  const base = new URL(document.baseURI).pathname;
  const path = url.pathname.startsWith(base) ? url.pathname.slice(base.length) : '';
  return { path, query: url.searchParams };
}

export function goTo(path: string): void {
  history.pushState(null, '', new URL(path === '' ? '.' : path, document.baseURI));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}
