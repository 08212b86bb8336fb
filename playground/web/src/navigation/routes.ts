import { useSyncExternalStore } from 'react';
import { DEFAULT_USERS, PLACES } from '../../../slack/default-cast.ts';
import { createSignal } from '../client/signal.ts';
import { peopleOf, readEntities } from '../client/store.ts';

/** What of the workspace is open. */
export type Place =
  | {
      readonly kind: 'channel';
      readonly channel: string;
      readonly threadTs?: string;
      readonly messageTs?: string;
    }
  | { readonly kind: 'home' };

/** Whose client this window is, a user id, and what is open in it. */
export interface Route {
  readonly as: string;
  readonly place: Place;
}

const PERSON_OF_THIS_WINDOW = 'person';
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

/** Goes elsewhere and leaves a step in the browser's history; what is left out stays as it is. */
export function go(route: Partial<Route>): void {
  move(route, 'pushState');
}

/** Goes elsewhere without a step in the history, for a place that cannot be shown. */
export function goInstead(route: Partial<Route>): void {
  move(route, 'replaceState');
}

/** The address of a route within this page; what is left out is as in this window. */
export function hrefOf(route: Partial<Route>): string {
  const { as, place } = { ...readRoute(), ...route };
  const client = `/${encodeURIComponent(nameInUrl(as))}`;
  if (place.kind === 'home') return `${client}/home`;
  const { channel, threadTs, messageTs } = place;
  const thread = threadTs === undefined ? '' : `/${threadTs}`;
  return `${client}/${channel}${thread}${messageTs === undefined ? '' : `?message=${messageTs}`}`;
}

/** The route that an address of this page, or the path of one of Slack's own permalinks, stands for. */
export function routeOf(url: URL): Route {
  const [first = '', second = '', third] = url.pathname.split('/').slice(1).map(decodeURIComponent);
  if (first === 'archives') return { as: lastPerson(), place: placeOfPermalink(second, third, url) };
  const as = first === '' ? lastPerson() : userIdOf(first);
  if (second === 'home') return { as, place: { kind: 'home' } };
  const messageTs = url.searchParams.get('message') ?? undefined;
  return {
    as,
    place: {
      kind: 'channel',
      channel: second === '' ? PLACES.general : second,
      ...(third !== undefined && third !== '' && { threadTs: third }),
      ...(messageTs !== undefined && { messageTs }),
    },
  };
}

/** Starts to follow the browser's back and forward, and gives the address its usual form. */
export function followHistory(): void {
  window.addEventListener('popstate', () => {
    current = undefined;
    moved.send();
  });
  goInstead(readRoute());
}

function move(route: Partial<Route>, how: 'pushState' | 'replaceState'): void {
  const next = { ...readRoute(), ...route };
  const as = userIdOf(next.as);
  window.sessionStorage.setItem(PERSON_OF_THIS_WINDOW, as);
  const href = hrefOf({ ...next, as });
  const isHere = href === window.location.pathname + window.location.search;
  window.history[isHere ? 'replaceState' : how](null, '', href);
  current = { ...next, as };
  moved.send();
}

function placeOfPermalink(channel: string, message: string | undefined, url: URL): Place {
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
  return userIdOf(window.sessionStorage.getItem(PERSON_OF_THIS_WINDOW) ?? firstPerson());
}

function firstPerson(): string {
  return knownPeople()[0]?.id ?? '';
}
