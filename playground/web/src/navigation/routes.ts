import { useSyncExternalStore } from 'react';
import { CAST, CHANNELS, DEFAULT_USERS } from '../../../slack/default-cast.ts';
import { createSignal } from '../client/signal.ts';
import { peopleOf, readEntities } from '../client/store.ts';

/** The part of the workspace that is open. */
export type Screen =
  | {
      readonly kind: 'channel';
      readonly channel: string;
      readonly threadTs?: string;
      readonly messageTs?: string;
    }
  | { readonly kind: 'home' };

/** The person of this window, by user id, and the open screen. */
export interface Route {
  readonly as: string;
  readonly screen: Screen;
}

const PERSON_KEY = 'person';
const moved = createSignal();
let current: Route | undefined;

/** The route of this window; the same object until it changes. */
export function useRoute(): Route {
  return useSyncExternalStore(moved.subscribe, readRoute);
}

/** The route of this window, outside of a component. */
export function readRoute(): Route {
  current ??= routeOf(new URL(window.location.href));
  return current;
}

/** Navigates and adds an entry to the browser's history; missing parts stay unchanged. */
export function navigate(route: Partial<Route>): void {
  move(route, 'pushState');
}

/** Replaces the current history entry, for a screen that cannot be shown. */
export function replaceRoute(route: Partial<Route>): void {
  move(route, 'replaceState');
}

/** Returns the URL of a route; missing parts are those of this window. */
export function hrefOf(route: Partial<Route>): string {
  const { as, screen } = { ...readRoute(), ...route };
  const client = `/${encodeURIComponent(nameInUrl(as))}`;
  if (screen.kind === 'home') return `${client}/home`;
  const { channel, threadTs, messageTs } = screen;
  const thread = threadTs === undefined ? '' : `/${threadTs}`;
  return `${client}/${channel}${thread}${messageTs === undefined ? '' : `?message=${messageTs}`}`;
}

/** Parses a URL of this page or one of Slack's permalinks into a route. */
export function routeOf(url: URL): Route {
  const [first = '', second = '', third] = url.pathname.split('/').slice(1).map(decodeURIComponent);
  if (first === 'archives') return { as: lastPerson(), screen: screenOfPermalink(second, third, url) };
  const as = first === '' ? lastPerson() : userIdOf(first);
  if (second === 'home') return { as, screen: { kind: 'home' } };
  const messageTs = url.searchParams.get('message') ?? undefined;
  return {
    as,
    screen: {
      kind: 'channel',
      channel: second === '' ? CHANNELS.general : second,
      ...(third !== undefined && third !== '' && { threadTs: third }),
      ...(messageTs !== undefined && { messageTs }),
    },
  };
}

/** Follows the browser's back and forward, and normalizes the current URL. */
export function followHistory(): void {
  window.addEventListener('popstate', () => {
    current = undefined;
    moved.send();
  });
  replaceRoute(readRoute());
}

function move(route: Partial<Route>, how: 'pushState' | 'replaceState'): void {
  const next = { ...readRoute(), ...route };
  const as = userIdOf(next.as);
  window.sessionStorage.setItem(PERSON_KEY, as);
  const href = hrefOf({ ...next, as });
  const isHere = href === window.location.pathname + window.location.search;
  window.history[isHere ? 'replaceState' : how](null, '', href);
  current = { ...next, as };
  moved.send();
}

function screenOfPermalink(channel: string, message: string | undefined, url: URL): Screen {
  const digits = /^p(\d+)(\d{6})$/.exec(message ?? '');
  if (digits === null) return { kind: 'channel', channel };
  const messageTs = `${digits[1]}.${digits[2]}`;
  const threadTs = url.searchParams.get('thread_ts') ?? undefined;
  return { kind: 'channel', channel, messageTs, ...(threadTs !== undefined && { threadTs }) };
}

function knownPeople(): readonly { readonly id: string; readonly name: string }[] {
  const people = peopleOf(readEntities());
  return people.length > 0 ? people : DEFAULT_USERS;
}

function userIdOf(nameOrId: string): string {
  const known = knownPeople().find(({ id, name }) => id === nameOrId || name === nameOrId);
  return known?.id ?? firstPerson();
}

function nameInUrl(userId: string): string {
  return knownPeople().find(({ id, name }) => id === userId || name === userId)?.name ?? userId;
}

function lastPerson(): string {
  return userIdOf(window.sessionStorage.getItem(PERSON_KEY) ?? CAST.alice);
}

function firstPerson(): string {
  return knownPeople()[0]?.id ?? '';
}
