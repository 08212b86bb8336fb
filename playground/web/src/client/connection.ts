import { useSyncExternalStore } from 'react';
import type { Change } from '../../../protocol.ts';
import { createSignal } from './signal.ts';
import { applyChange, readEntities } from './store.ts';

/** State of the event stream; `lost` while it reconnects. */
export type ConnectionState = 'connecting' | 'open' | 'lost';

const RETRY_MS = 1000;
const changed = createSignal();
let state: ConnectionState = 'connecting';
let personShown: string | undefined;
let close = (): void => undefined;
let wanted: string | undefined;

/** Connects to a person's client and closes the previous stream; the old entities stay until the first change arrives. */
export function connectAs(userId: string): void {
  if (wanted === userId) return;
  wanted = userId;
  open(userId);
}

/** Returns the state of the event stream. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(changed.subscribe, () => state);
}

/** Resolves once the store holds this person's entities, or the server is lost. */
export function whenConnectedAs(userId: string): Promise<void> {
  if (personShown === userId || state === 'lost') return Promise.resolve();
  return new Promise((resolve) => {
    const stop = changed.subscribe(() => {
      if (personShown !== userId && state !== 'lost') return;
      stop();
      resolve();
    });
  });
}

/** Closes the stream while the window is hidden, when too many windows are open. */
export async function closeWhileHidden(): Promise<void> {
  if (await claimStreamSlot()) return;
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') close();
    else if (wanted !== undefined) open(wanted);
  });
}

function open(userId: string): void {
  close();
  const source = new EventSource(`/client/${encodeURIComponent(userId)}/events`);
  let retry: number | undefined;
  close = () => {
    source.close();
    window.clearTimeout(retry);
  };
  source.addEventListener('change', (event: MessageEvent<string>) => {
    const change = JSON.parse(event.data) as Change;
    applyChange(change);
    const workspace = readEntities().get('workspace');
    personShown = workspace?.kind === 'workspace' ? workspace.me : undefined;
    setState('open');
  });
  source.addEventListener('error', () => {
    setState('lost');
    // The browser reconnects only if the server was reached; a refused answer closes the stream for good.
    if (source.readyState === EventSource.CLOSED) retry = window.setTimeout(() => open(userId), RETRY_MS);
  });
}

function setState(next: ConnectionState): void {
  state = next;
  changed.send();
}

const MAX_KEPT_STREAMS = 3;

/**
 * True when this window may keep its event stream while hidden. A browser opens at most six connections to one server,
 * so with many windows the hidden ones must close theirs, or no window could send anything.
 */
async function claimStreamSlot(): Promise<boolean> {
  for (let slot = 0; slot < MAX_KEPT_STREAMS; slot += 1) if (await claimSlot(`stream-${slot}`)) return true;
  return false;
}

function claimSlot(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      // Held until the window is closed.
      return lock === null ? undefined : new Promise(() => undefined);
    });
  });
}
