import { type RefObject, useEffect, useRef, useSyncExternalStore } from 'react';

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

/** Keeps the fields of a form as the address says, also after Back; who is in a field stays there. */
export function useFormOf(
  query: URLSearchParams,
  names: readonly string[],
): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  const asked = query.toString();
  useEffect(() => {
    const given = new URLSearchParams(asked);
    for (const name of names) {
      const field = form.current?.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
        field.value = given.get(name) ?? '';
      if (field instanceof HTMLTextAreaElement) field.value = given.get(name) ?? field.defaultValue;
    }
  }, [asked, names]);
  return form;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}
